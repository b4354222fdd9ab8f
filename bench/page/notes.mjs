// Reads notes.md: a section per goal, with one sentence on why a run may miss it. It is written by hand, so that a new
// run of the bench does not lose it.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('notes.md', import.meta.url));

/** @returns {Map<string, string>} the sentence by the id of its goal */
export function readNotes(text = readFileSync(FILE, 'utf8')) {
  const sections = text.split(/^## /m).slice(1);
  return new Map(
    sections.map((section) => {
      const [id, ...lines] = section.split('\n');
      return [id.trim(), lines.join(' ').trim()];
    }),
  );
}
