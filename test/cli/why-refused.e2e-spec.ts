import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import { KeysService, type NewKey } from '../../src/keys/keys.service.js';
import { UsageHistory } from '../../src/usage/usage-history.js';
import { Client } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startService, type TestService } from '../support/start-service.js';

const REX = { name: 'Rex', categoryId: 1 };
const LITTLE = { plan: 'enterprise', perMinute: 2, perDay: 1_000 } as const;
/** Which of the commands that it names is to be run, and what it leaves to the operator. */
const OFFERED = /petstore (keys (?:issue|unban|set-plan|set-scopes) .*?)(?: ends the ban)?$/gm;
/** More than are refused while a change is on its way. */
const BAN_AFTER = 200;

interface Cause {
  /** Of the key, and so of the trouble. */
  key: () => Partial<NewKey>;
  /** What happens to the key before it is used. */
  before?: (keys: KeysService, id: string) => Promise<unknown>;
  /** What the client asks. */
  ask: (client: Client) => Promise<{ status: number; text: string }>;
  /** What it is told, and what `keys usage` says of it. */
  code: string;
  says: RegExp;
  /** What stands for the operator's choices. */
  choices?: readonly (readonly [string, string])[];
}

const list = (client: Client) => client.get('/v1/pets');
const create = (client: Client) => client.post('/v1/pets', REX);

const CAUSES: Record<string, Cause> = {
  'asks for more than its plan has': {
    key: () => LITTLE,
    ask: list,
    code: 'rate_limit_exceeded',
    says: /asks for more than its plan allows/,
    choices: [['PLAN', 'business']],
  },
  'is banned': {
    key: () => LITTLE,
    ask: async (client) => {
      const answers = await Promise.all(Array.from({ length: BAN_AFTER }, () => list(client)));
      return answers.at(-1)!;
    },
    code: 'key_banned',
    says: /^Status +banned until /m,
    choices: [['PLAN', 'business']],
  },
  'lacks a scope': {
    key: () => ({ scopes: ['pets:read'] }),
    ask: create,
    code: 'insufficient_scope',
    says: /^Scopes +pets:read$[^]*A scope is missing \(it has pets:read\)/m,
    choices: [['LIST', 'pets:read,pets:write']],
  },
  'uses a key that was revoked': {
    key: () => ({}),
    before: (keys, id) => keys.revoke(id),
    ask: list,
    code: 'invalid_api_key',
    says: /^Status +revoked 20[^]*The key is revoked, for good/m,
  },
  'uses a key that has expired': {
    key: () => ({ expiresAt: Date.now() + 500 }),
    ask: list,
    code: 'invalid_api_key',
    says: /^Status +expired 20[^]*The key is expired, for good/m,
  },
};

async function run(...argv: string[]): Promise<string> {
  let [said, complained] = ['', ''];
  const output = new Output(
    (text) => void (said += text),
    (text) => void (complained += text),
  );
  expect({ argv, code: await runProgram(argv, output), complained }).toEqual({
    argv,
    code: 0,
    complained: '',
  });
  return said;
}

/** As a shell takes it apart. */
function wordsOf(command: string): string[] {
  return Array.from(command.matchAll(/(?:'[^']*'|\\.|[^\s'\\])+/g), ([word]) =>
    word.replace(/'([^']*)'|\\(.)/g, '$1$2'),
  );
}

/** All that is known is the name of who complains; all that is used is what the program itself says. */
describe('an operator who has never seen it, with the command line alone,', () => {
  const { DATABASE_URL } = process.env;
  let service: TestService;
  beforeAll(async () => {
    service = await startService({ env: { BAN_AFTER_REJECTIONS: String(BAN_AFTER) } });
    process.env['DATABASE_URL'] = service.config.databaseUrl;
  });
  afterAll(async () => {
    if (DATABASE_URL === undefined) delete process.env['DATABASE_URL'];
    else process.env['DATABASE_URL'] = DATABASE_URL;
    await service.close();
  });

  it('is led to the commands by the help', async () => {
    expect(await run()).toMatch(/keys .*API keys[^]*petstore keys usage KEY_ID/);
    const help = await run('keys', '--help');
    expect(help).toMatch(/usage .*why it\s+was\s+refused/);
    expect(help).toContain('petstore keys list --search');
  });

  it.each(Object.entries(CAUSES))(
    'finds out that a caller %s, mends it, and sees that it helped',
    async (what, cause) => {
      const name = `Karl's zoo that ${what}`;
      const keys = service.store.app.get(KeysService);
      const { key, record } = await keys.issue({ name, plan: 'pro', ...cause.key() });
      await cause.before?.(keys, record.id);
      const client = new Client(service.origin, key);
      await eventually(async () => (await cause.ask(client)).text.includes(cause.code));
      // An answer may be here before it is counted.
      const usage = async (id: string, says: RegExp): Promise<string> => {
        let said = '';
        const isSaid = async () => {
          await service.store.app.get(UsageHistory).save();
          said = await run('keys', 'usage', id);
          return says.test(said);
        };
        await eventually(isSaid).catch(() => expect(said).toMatch(says));
        return said;
      };

      const id = /^key_\w+/m.exec(await run('keys', 'list', '--search', name))![0];
      expect(id).toBe(record.id);
      const refusal = `LATEST REFUSALS[^]* ${cause.code} +(?:list|create)Pet`;
      const said = await usage(id, new RegExp(refusal));
      expect(said).toMatch(cause.says);
      expect(said).toMatch(/ 127\.0\.0\.1$/m);
      const widest = Math.max(
        ...said
          .split('\nWHAT HELPS')[0]!
          .split('\n')
          .map((l) => l.length),
      );
      expect(widest).toBeLessThanOrEqual(80);

      let mended = '';
      for (const [, offered] of said.slice(said.indexOf('WHAT HELPS')).matchAll(OFFERED)) {
        let command = offered!;
        for (const [choice, made] of cause.choices ?? []) command = command.replace(choice, made);
        mended += await run(...wordsOf(command));
      }
      const fresh = /^psk_\w+/.exec(mended)?.[0];
      const again = fresh === undefined ? client : new Client(service.origin, fresh);
      const isCreate = cause.ask === create;
      await eventually(async () => (await (isCreate ? create : list)(again)).status < 300);
      const itsId = fresh === undefined ? id : /key_\w+/.exec(mended)![0];
      await usage(itsId, /^Status +active$[^]*^ok +20[01] /m);
      for (const each of [client, again]) each.close();
    },
  );
});
