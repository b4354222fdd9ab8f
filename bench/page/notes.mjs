// Where the time goes is for people to find out and to write down: `notes.md` has a section for each goal,
// and the page takes those of the goals that are missed, and those that they name. So a rerun loses none of it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('notes.md', import.meta.url));

/** @returns {Map<string, string>} the text by the id of its goal */
export function readNotes(text = readFileSync(FILE, 'utf8')) {
  const sections = text.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [id, ...lines] = section.split('\n');
      return [id.trim(), lines.join('\n').trim()];
    }),
  );
}
