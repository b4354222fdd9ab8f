import { spawnSync } from 'node:child_process';

/** Runs the bench with arguments that keep it from measuring anything. */
function bench(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.mjs', ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('bench', () => {
  it.each([
    [['--rounds', '9'], "Unknown option '--rounds'"],
    [['fast'], "Unexpected argument 'fast'"],
    [['--only', 'mysql'], '--only takes one of sqlite, postgres, redis, growth'],
    [['--quick', '--only', 'redis'], '--quick is a part by itself: no --only'],
    [['--publish'], '--publish goes with --only'],
    [
      ['--beside', 'HEAD', '--check'],
      '--beside is a run by itself: no --quick, no --check, no --publish',
    ],
    [['--beside', 'HEAD', '--only', 'redis'], '--beside takes --only sqlite or --only postgres'],
    [['--check', '--quick'], '--check is a run by itself: no --quick, no --only'],
  ])('refuses %j in one line, with exit 2', (args, message) => {
    const { status, stdout, stderr } = bench(...args);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd()).not.toContain('\n');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  });

  it('tells with --help every option there is', () => {
    const { status, stdout } = bench('--help');
    expect(status).toBe(0);
    expect(stdout).toMatch(/--quick .*--only PART .*--publish .*--check .*--beside REF .*--help /s);
  });
});
