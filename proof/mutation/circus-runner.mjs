// A test runner of StrykerJS for the test files of `npm test`.
//
// Jest loads Nest and TypeORM anew for each test file, which takes seconds for each mutant. This
// runner loads the sources once, and runs the same files with the same framework (jest-circus,
// expect, jest-mock, fake timers) in one process. A mutant is switched on at run time; code that
// runs only while a file is loaded cannot be mutated, and StrykerJS ignores it.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  DryRunStatus,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import * as circus from 'jest-circus';
import { ModuleMocker } from 'jest-mock';
import '../typescript.mjs';
import { TEST_FILES } from './scope.mjs';

/** As in jest.config.mjs. */
const TEST_TIMEOUT_MS = 120_000;
const context = (globalThis.__stryker__ ??= {});

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
const jest = {
  fn: (implementation) => mocker.fn(implementation),
  spyOn: (...args) => mocker.spyOn(...args),
  replaceProperty: (...args) => mocker.replaceProperty(...args),
  clearAllMocks: () => mocker.clearAllMocks(),
  resetAllMocks: () => mocker.resetAllMocks(),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
  getTimerCount: () => timers.getTimerCount(),
};

/** The tests of one file: from its describe blocks, without those that are not wanted. */
function prune(block, prefix, wanted) {
  const names = new Map();
  const visit = (node, path) => {
    node.children = node.children.filter((child) => {
      const childPath = `${path} ${child.name}`;
      if (child.type === 'describeBlock') return visit(child, childPath);
      const count = (names.get(childPath) ?? 0) + 1;
      names.set(childPath, count);
      child.id = count === 1 ? childPath : `${childPath} (${count})`;
      return child.mode !== 'todo' && (wanted === undefined || wanted.has(child.id));
    });
    node.tests = node.children.filter(({ type }) => type === 'test');
    return node.children.length > 0;
  };
  return visit(block, prefix);
}

function* testsOf(block) {
  for (const child of block.children) {
    if (child.type === 'test') yield child;
    else yield* testsOf(child);
  }
}

function skipRest(block) {
  block.mode = 'skip';
  for (const child of block.children) {
    if (child.type === 'describeBlock') skipRest(child);
    else if (child.status === null || child.status === undefined) child.mode = 'skip';
  }
}

function resultOf(test, fileName) {
  const { id, errors, duration } = test;
  const common = { id, name: id, fileName, timeSpentMs: duration ?? 0 };
  if (errors.length === 0) {
    const status = test.status === 'done' ? TestStatus.Success : TestStatus.Skipped;
    return { ...common, status };
  }
  const [first] = errors.flat();
  return { ...common, status: TestStatus.Failed, failureMessage: String(first?.stack ?? first) };
}

class CircusRunner {
  #imports = 0;
  #mayBail = false;
  #hasFailed = false;

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    const { describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = circus;
    const globals = { describe, it, test, beforeAll, beforeEach, afterAll, afterEach };
    Object.assign(globalThis, globals, { expect: jestExpect, jest });
    circus.addEventHandler((event, state) => this.#observe(event, state));
    for (const name of ['uncaughtException', 'unhandledRejection']) {
      process.on(name, (error) => circus.getState().currentlyRunningTest?.errors.push(error));
    }
    const { createTemplates } = await importFresh('test/support/templates.ts');
    this.removeTemplates = await createTemplates(false);
  }

  async dispose() {
    await this.removeTemplates?.();
  }

  async dryRun() {
    delete context.mutantCoverage;
    context.activeMutant = undefined;
    this.#mayBail = false;
    const tests = await this.#run();
    return { status: DryRunStatus.Complete, tests, mutantCoverage: context.mutantCoverage };
  }

  async mutantRun({ testFilter, activeMutant, hitLimit, disableBail }) {
    context.hitCount = hitLimit === undefined ? undefined : 0;
    context.hitLimit = hitLimit;
    context.activeMutant = activeMutant.id;
    this.#mayBail = !disableBail;
    const tests = await this.#run(testFilter && new Set(testFilter));
    context.activeMutant = undefined;
    const endless = determineHitLimitReached(context.hitCount, hitLimit);
    return toMutantRunResult(endless ?? { status: DryRunStatus.Complete, tests });
  }

  async #run(wanted) {
    this.#hasFailed = false;
    const files = TEST_FILES.filter(
      (file) => wanted === undefined || [...wanted].some((id) => id.startsWith(`${file}:`)),
    );
    const results = [];
    for (const file of files) {
      if (this.#hasFailed && this.#mayBail) break;
      circus.resetState();
      circus.getState().testTimeout = TEST_TIMEOUT_MS;
      await importFresh(file, ++this.#imports);
      const { rootDescribeBlock: root } = circus.getState();
      prune(root, `${file}:`, wanted);
      const tests = [...testsOf(root)];
      await circus.run();
      context.currentTestId = undefined;
      timers.useRealTimers();
      mocker.restoreAllMocks();
      results.push(...tests.map((test) => resultOf(test, resolve(file))));
    }
    return results;
  }

  /** Code that hooks run counts as covered by the first and the last test of their block. */
  #observe(event, state) {
    const { name } = event;
    if (name === 'test_start') {
      context.currentTestId = event.test.id;
      jestExpect.setState({ assertionCalls: 0, currentTestName: event.test.name });
    }
    if (name === 'hook_start' && event.hook.type === 'beforeAll') {
      context.currentTestId = testsOf(event.hook.parent).next().value?.id;
    }
    if (name === 'test_done' && event.test.errors.length > 0) {
      this.#hasFailed = true;
      if (this.#mayBail) skipRest(state.rootDescribeBlock);
    }
  }
}

/** @param version another one for each evaluation of a file */
function importFresh(file, version = 0) {
  return import(`${pathToFileURL(resolve(file)).href}?${version}`);
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'circus', CircusRunner)];
