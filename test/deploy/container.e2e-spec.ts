import { existsSync, readFileSync } from 'node:fs';
import { DockerfileParser, Keyword } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { loadConfig } from '../../src/config/config.js';

const text = readFileSync('Dockerfile', 'utf8');
const dockerfile = DockerfileParser.parse(text);
const stages = dockerfile.getFROMs();
const instructions = dockerfile.getInstructions();
const afterLastFrom = instructions.slice(
  instructions.findLastIndex((instruction) => instruction.getKeyword() === 'FROM'),
);

/** The arguments of an instruction of the last stage. */
function last(keyword: Keyword): string | undefined {
  return afterLastFrom
    .findLast((instruction) => instruction.getKeyword() === String(keyword))
    ?.getArgumentsContent() as string | undefined;
}

describe('Dockerfile', () => {
  it('has nothing that a linter objects to', () => {
    expect(validate(text).map(({ range, message }) => [range.start.line + 1, message])).toEqual([]);
  });

  it('compiles in one stage and runs in another, on the same pinned major of Node', () => {
    expect(stages.map((stage) => stage.getImage())).toEqual([
      'node:22-bookworm-slim',
      'node:22-bookworm-slim',
    ]);
    expect(afterLastFrom.map(String).join()).not.toContain('apt-get');
  });

  it('does not run as root', () => {
    expect(last(Keyword.USER)).toBe('1000:1000');
  });

  it('starts Node itself, without a shell, so that signals arrive', () => {
    const entrypoint = JSON.parse(last(Keyword.ENTRYPOINT)!) as string[];
    expect(entrypoint[0]).toBe('node');
    expect(JSON.parse(last(Keyword.CMD)!)).toEqual(['serve']);
  });

  it('has a configuration that the service accepts, for production and for all addresses', () => {
    const variables = afterLastFrom
      .filter((instruction) => instruction.getKeyword() === 'ENV')
      .flatMap((instruction) => instruction.getArguments().map((argument) => argument.getValue()));
    const config = loadConfig(
      Object.fromEntries(variables.map((variable) => variable.split(/=(.*)/s).slice(0, 2))),
    );
    expect(config).toMatchObject({
      production: true,
      host: '0.0.0.0',
      port: 3000,
      logFormat: 'json',
      databaseUrl: 'sqlite:/data/petstore.db',
    });
    expect(last(Keyword.VOLUME)).toBe('/data');
  });

  it('copies only what exists and what .dockerignore lets through', () => {
    const kept = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    const copied = instructions
      .filter((instruction) => instruction.getKeyword() === 'COPY')
      .map((instruction) => instruction.getArguments().map((argument) => argument.getValue()))
      .filter((sources) => !sources[0]!.startsWith('/app'))
      .flatMap((sources) => sources.slice(0, -1).map((path) => path.replace('./', '')));
    expect([...copied].sort()).toEqual([...kept].sort());
    expect(copied.filter((path) => !existsSync(path))).toEqual([]);
  });
});
