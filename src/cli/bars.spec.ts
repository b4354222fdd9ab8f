import { type Bar, barChart } from './bars.js';

const bar = (admitted: number, refused = 0): Bar => ({ label: '07', admitted, refused });
const STYLE = { width: 3, labelled: 1, colours: false };
const rowsOf = (bars: Bar[]) => barChart('TITLE', bars, STYLE).split('\n').slice(1, 7);

describe(barChart.name, () => {
  it('draws the most as high as there is room, and what is refused on top', () => {
    expect(barChart('LAST 2 HOURS', [bar(1_500, 1_500), bar(0)], STYLE)).toBe(
      [
        'LAST 2 HOURS  █ 1,500 admitted  ░ 1,500 refused',
        '   3K │░░',
        '      │░░',
        '      │░░',
        '      │██',
        '      │██',
        '      │██',
        '    0 └─────',
        '       07 07',
      ].join('\n'),
    );
  });

  it('shows whatever is not zero', () => {
    const rows = rowsOf([bar(1_000_000), bar(1), bar(0, 1), bar(999_999, 1), bar(1, 999_999)]);
    expect(rows.at(-1)).toBe('      │██ ██ ░░ ██ ██');
    expect(rows[0]).toBe('   1M │██       ░░ ░░');
    expect(rows[4]).toBe('      │██       ██ ░░');
  });

  it('draws nothing where there is nothing', () => {
    expect(rowsOf([bar(0), bar(0)]).join('')).not.toMatch(/[█░]/);
  });

  it('has a day of hours within 80 columns, and colours where they are wished', () => {
    const hours = Array.from({ length: 24 }, (_none, hour) => bar(hour, 5));
    const plain = barChart('LAST 24 HOURS (UTC)', hours, STYLE);
    for (const line of plain.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const coloured = barChart('LAST 24 HOURS (UTC)', hours, { ...STYLE, colours: true });
    expect(coloured).toContain('\u001b[31m░░\u001b[39m');
    // eslint-disable-next-line no-control-regex -- what makes it red
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(plain);
  });
});
