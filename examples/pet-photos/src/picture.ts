/** What the content of a picture says about it. The `Content-Type` of a request is only a claim. */
export interface Picture {
  type: 'image/png' | 'image/jpeg';
  width: number;
  height: number;
}

/** The signature of PNG, and the length and type of the first chunk, which has the size. */
const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const JPEG_START = Buffer.from('ffd8', 'hex');

/** @returns undefined if the content is neither PNG nor JPEG */
export function pictureOf(content: Buffer): Picture | undefined {
  return pngOf(content) ?? jpegOf(content);
}

function pngOf(content: Buffer): Picture | undefined {
  if (!startsWith(content, PNG_START) || content.length < 24) return undefined;
  const [width, height] = [content.readUInt32BE(16), content.readUInt32BE(20)];
  return { type: 'image/png', width, height };
}

/** Skips segments up to the header of the frame, which has the size. */
function jpegOf(content: Buffer): Picture | undefined {
  if (!startsWith(content, JPEG_START)) return undefined;
  let at = JPEG_START.length;
  while (at + 9 <= content.length && content[at] === 0xff) {
    if (isFrame(content[at + 1]!)) {
      const [height, width] = [content.readUInt16BE(at + 5), content.readUInt16BE(at + 7)];
      return { type: 'image/jpeg', width, height };
    }
    at += 2 + content.readUInt16BE(at + 2);
  }
  return undefined;
}

function startsWith(content: Buffer, start: Buffer): boolean {
  return content.subarray(0, start.length).equals(start);
}

/** SOF0 to SOF15. DHT, JPG and DAC are markers in the same range. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}
