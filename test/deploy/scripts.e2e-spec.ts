import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};

describe.each(['README.md', 'CONTRIBUTING.md', 'docs/scaling.md'])('%s', (document) => {
  const text = readFileSync(document, 'utf8');

  it('names only commands that there are', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g)].map(
      ([, name]) => name,
    );
    expect(named.length).toBeGreaterThan(0);
    for (const name of named) expect(scripts).toHaveProperty([name!]);
  });
});
