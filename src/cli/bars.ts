/** What one column stands for. */
export interface Bar {
  /** Below it, where there is room; no wider than the column. */
  label: string;
  admitted: number;
  refused: number;
}

export interface BarStyle {
  /** Of one column, the gap included. */
  width: number;
  /** Every so many columns have their label, which may be as wide as all of them. */
  labelled: number;
  /** Whether what was refused is red besides. */
  colours: boolean;
}

const ROWS = 6;
const ADMITTED = '█';
const REFUSED = '░';
const SCALE_WIDTH = 5;
const RED = (text: string): string => `\u001b[31m${text}\u001b[39m`;
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const FULL = new Intl.NumberFormat('en');

/** Columns beside each other, what was refused on top of what was admitted; whatever is not zero is seen. */
export function barChart(title: string, bars: readonly Bar[], style: BarStyle): string {
  const most = Math.max(...bars.map(totalOf), 1);
  const columns = bars.map((bar) => cellsOf(bar, most));
  const sum = (name: 'admitted' | 'refused'): string =>
    FULL.format(bars.reduce((all, bar) => all + bar[name], 0));
  const legend = `${ADMITTED} ${sum('admitted')} admitted  ${REFUSED} ${sum('refused')} refused`;
  const rows = Array.from({ length: ROWS }, (_none, index) => {
    const row = ROWS - 1 - index;
    const cells = columns.map((cells) => (cells[row] ?? ' ').repeat(style.width - 1)).join(' ');
    const scale = index === 0 ? COMPACT.format(most) : '';
    return `${scale.padStart(SCALE_WIDTH)} │${cells}`.trimEnd();
  });
  const labels = bars
    .filter((_bar, index) => index % style.labelled === 0)
    .map(({ label }) => label.padEnd(style.width * style.labelled))
    .join('');
  const axis = `${'0'.padStart(SCALE_WIDTH)} └${'─'.repeat(style.width * bars.length - 1)}`;
  const margin = ' '.repeat(SCALE_WIDTH + 2);
  const text = [`${title}  ${legend}`, ...rows, axis, (margin + labels).trimEnd()].join('\n');
  return style.colours ? text.replace(new RegExp(`${REFUSED}+`, 'g'), RED) : text;
}

/** From below. */
function cellsOf(bar: Bar, most: number): string {
  const { admitted, refused } = bar;
  const total = totalOf(bar);
  if (total === 0) return '';
  const parts = Number(admitted > 0) + Number(refused > 0);
  const height = Math.max(Math.round((total / most) * ROWS), parts);
  const least = Number(refused > 0);
  const top = Math.max(Math.round((refused / total) * height), least);
  const refusedRows = Math.min(top, height - Number(admitted > 0));
  return ADMITTED.repeat(height - refusedRows) + REFUSED.repeat(refusedRows);
}

function totalOf({ admitted, refused }: Bar): number {
  return admitted + refused;
}
