// Draws docs/performance.svg: bars are ratios to the Fastify program, which is a line at 1. Each panel has its own scale.

const WIDTH = 760;
const LABELS = 190;
const RIGHT = 130;
const ROW = 24;
const BAR = 14;
const PANEL_HEAD = 46;
const TOP = 66;
const BAR_WIDTH = WIDTH - LABELS - RIGHT;
/** A column of its own, so that no line crosses the values. */
const VALUES = WIDTH - RIGHT + 16;

const TITLE = 'Requests per second, as a ratio to the hand-written Fastify program';

/** The chart has its own background, which follows the reader's colour scheme, because the page behind it may not. */
const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: #3d444d; }
  .ground { fill: #ffffff; }
  .title { font-weight: 600; font-size: 14px; }
  .note { fill: #6e7781; font-size: 12px; }
  .ours { fill: #1f6feb; }
  .other { fill: #8c959f; }
  .fastify { stroke: #57606a; stroke-dasharray: 4 3; }
  .spread { stroke: #24292f; stroke-width: 1.5; }
  .goal { stroke: #cf222e; stroke-width: 2; }
  .key { fill: #cf222e; font-size: 12px; }
  @media (prefers-color-scheme: dark) {
    text { fill: #d1d7e0; }
    .ground { fill: #0d1117; }
    .note { fill: #9198a1; }
    .ours { fill: #4493f8; }
    .other { fill: #656c76; }
    .fastify { stroke: #9198a1; }
    .spread { stroke: #f0f6fc; }
    .goal { stroke: #ff7b72; }
    .key { fill: #ff7b72; }
  }`;

/** @typedef {{name: string, ratio: number, least: number, most: number, ours: boolean, goal?: number}} Bar */

/** @param {{title: string, bars: Bar[]}[]} panels */
export function drawChart(panels) {
  let y = TOP;
  const parts = panels.map((panel) => {
    const drawn = drawPanel(panel, y);
    y += PANEL_HEAD + panel.bars.length * ROW;
    return drawn;
  });
  const height = y + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${TITLE}</title>
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${height}" rx="6"/>
${text('note', 12, 20, `${TITLE}; the thin line spans the lowest and the highest round.`)}
${text('note', 12, 36, 'All programs have the same duties. The red line is the goal of the service.')}
${parts.join('\n')}
</svg>
`;
}

function drawPanel({ title, bars }, top) {
  const longest = Math.max(1.1, ...bars.flatMap(({ most, goal = 0 }) => [most, goal]));
  const x = (ratio) => round(LABELS + (ratio / longest) * BAR_WIDTH);
  const first = top + 26;
  const bottom = first + bars.length * ROW;
  const line = (name, ratio, from, to) =>
    `<line class="${name}" x1="${x(ratio)}" x2="${x(ratio)}" y1="${from}" y2="${to}"/>`;
  const rows = bars.map((bar, index) => drawBar(bar, first + index * ROW, x, line));
  return [
    text('title', 12, top + 4, title),
    text('note', x(1), top + 16, 'Fastify = 1', 'middle'),
    line('fastify', 1, top + 20, bottom),
    ...rows,
  ].join('\n');
}

function drawBar({ name, ratio, least, most, ours, goal }, top, x, line) {
  const middle = top + ROW / 2;
  const value = ratio < 0.1 ? ratio.toFixed(3) : ratio.toFixed(2);
  const width = Math.max(1, round(x(ratio) - LABELS));
  const parts = [
    text('', LABELS - 10, middle + 4, name, 'end'),
    `<rect class="${ours ? 'ours' : 'other'}" x="${LABELS}" y="${middle - BAR / 2}" width="${width}" height="${BAR}"/>`,
    `<line class="spread" x1="${x(least)}" x2="${x(most)}" y1="${middle}" y2="${middle}"/>`,
    text('', VALUES, middle + 4, value),
  ];
  if (goal !== undefined) {
    parts.push(line('goal', goal, middle - BAR / 2 - 3, middle + BAR / 2 + 3));
    parts.push(text('key', VALUES + 52, middle + 4, `goal ${goal}`));
  }
  return parts.join('\n');
}

function text(name, x, y, content, anchor = 'start') {
  const escaped = content.replace(/&/g, '&amp;').replace(/</g, '&lt;');
  return `<text class="${name}" x="${round(x)}" y="${y}" text-anchor="${anchor}">${escaped}</text>`;
}

function round(number) {
  return Math.round(number * 10) / 10;
}
