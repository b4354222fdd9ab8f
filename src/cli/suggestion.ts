/** More than so many slips of a finger, and something else was meant. */
const MAX_SLIPS = 2;

/** The name that was probably meant; undefined where none is near. */
export function closest(word: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, slips: slipsBetween(word, name) }))
    .filter(({ name, slips }) => slips <= MAX_SLIPS && slips < name.length / 2)
    .sort((one, other) => one.slips - other.slips);
  return near[0]?.name;
}

/** How many characters are missing, too many, wrong, or swapped with the next one. */
function slipsBetween(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const [above, behind] = [rows[i - 1]!, rows[i - 2]];
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        above[j]! + 1,
        row[j - 1]! + 1,
        above[j - 1]! + (isSame ? 0 : 1),
        isSwapped && behind !== undefined ? behind[j - 2]! + 1 : Infinity,
      );
    }
    rows.push(row);
  }
  return rows[one.length]![other.length]!;
}
