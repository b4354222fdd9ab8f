// Draws docs/performance.svg: requests per second as a ratio to the Fastify program, which is a
// line at 1. Each panel has its own scale.
import { FASTIFY, NAMES, SERVICE, VARIANTS } from './field/field.mjs';

const WIDTH = 760;
const LABELS = 200;
const BARS = 460;
const ROW = 24;
const BAR = 14;
const HEAD = 46;

/** Follows the reader's colour scheme, so it has its own background. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #3d444d; }
  .ground { fill: #ffffff; } .note { fill: #6e7781; font-size: 12px; } .title { font-weight: 600; }
  .ours { fill: #1f6feb; } .other { fill: #8c959f; } line { stroke: #57606a; }
  .fastify { stroke-dasharray: 4 3; }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0; } .ground { fill: #0d1117; } .note { fill: #9198a1; }
    .ours { fill: #4493f8; } .other { fill: #656c76; } line { stroke: #d1d7e0; }
  }`;

/** @param {{title: string, contest: import('./race.mjs').Contest}[]} contests */
export function drawChart(contests) {
  const title = 'Requests per second, as a ratio to the hand-written Fastify program';
  const parts = [text('note', 12, 20, title)];
  let top = 44;
  for (const { title: heading, contest } of contests) {
    const fastify = contest.entries.find(({ id }) => id === FASTIFY.id);
    const others = contest.entries.filter(({ id }) => id !== FASTIFY.id && !VARIANTS.has(id));
    const bars = others.map(({ id, perSecond }) => {
      return { id, name: NAMES.get(id), ratio: perSecond / fastify.perSecond };
    });
    parts.push(...panel(heading, bars, top));
    top += HEAD + bars.length * ROW;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img">
<title>${title}</title>
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${top}" rx="6"/>
${parts.join('\n')}
</svg>
`;
}

function panel(title, bars, top) {
  const longest = Math.max(1.1, ...bars.map(({ ratio }) => ratio));
  const x = (ratio) => Math.round(LABELS + (ratio / longest) * BARS);
  const first = top + 22;
  const rows = bars.flatMap(({ id, name, ratio }, row) => {
    const middle = first + row * ROW + ROW / 2;
    const kind = id === SERVICE.id || id === 'keyed' ? 'ours' : 'other';
    const size = `width="${Math.max(1, x(ratio) - LABELS)}" height="${BAR}"`;
    return [
      text('', LABELS - 10, middle + 4, name, 'end'),
      `<rect class="${kind}" x="${LABELS}" y="${middle - BAR / 2}" ${size}/>`,
      text('', LABELS + BARS + 16, middle + 4, ratio.toFixed(2)),
    ];
  });
  const bottom = first + bars.length * ROW;
  const fastify = `<line class="fastify" x1="${x(1)}" x2="${x(1)}" y1="${first - 6}" y2="${bottom}"/>`;
  return [
    text('title', 12, top + 4, title),
    text('note', x(1), top + 12, 'Fastify = 1', 'middle'),
    ...rows,
    fastify,
  ];
}

function text(kind, x, y, content, anchor = 'start') {
  const plain = content.replaceAll('`', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${plain}</text>`;
}
