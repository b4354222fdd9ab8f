import { CommanderError } from 'commander';
import { HOUR_MS, isoTime } from '../core/time/windows.js';
import { KEPT_MS } from '../core/usage/usage.entities.js';
import { type OperationCount, UsageRepository } from '../core/usage/usage.repository.js';
import type { CommonOptions, Result } from './add-command.js';
import { runAsOperator } from './operator.js';
import type { Output } from './output.js';

const COLUMNS = ['client', 'plan', 'hour', 'operation', 'admitted', 'rejected'] as const;

export interface UsageOptions extends CommonOptions {
  /** Full hours in Unix milliseconds, the second exclusive. */
  from: number;
  to: number;
  format: 'csv' | 'ndjson';
}

type Row = OperationCount & { hour: string };

/** `petstore usage export --from DATE --to DATE` */
export function exportUsage(options: UsageOptions, output: Output): Promise<Result | void> {
  const { from, to, format, json } = options;
  if (from >= to) {
    throw new CommanderError(2, 'petstore.usage', 'error: --from must be before --to');
  }
  const keptSince = Math.ceil((Date.now() - KEPT_MS) / HOUR_MS) * HOUR_MS;
  return runAsOperator<Result | void>(options, async (app) => {
    if (from < keptSince) output.note(`Usage before ${isoTime(keptSince)} is not kept.`);
    const hours = { from: Math.max(from, keptSince), to: Math.min(to, Date.now()) };
    const rows = rowsOf(app.get(UsageRepository), hours);
    if (!json) return void (await output.pipe(format === 'csv' ? csvOf(rows) : linesOf(rows)));
    const value: Row[] = [];
    for await (const row of rows) value.push(row);
    return { value, text: '' };
  });
}

/** One query per hour, so that neither the database nor this process holds all rows. */
async function* rowsOf(
  usage: UsageRepository,
  { from, to }: Pick<UsageOptions, 'from' | 'to'>,
): AsyncIterable<Row> {
  for (let startMs = from; startMs < to; startMs += HOUR_MS) {
    for (const { client, plan, ...counts } of await usage.countByOperation(startMs / HOUR_MS)) {
      yield { client, plan, hour: isoTime(startMs), ...counts };
    }
  }
}

async function* csvOf(rows: AsyncIterable<Row>): AsyncIterable<string> {
  yield `${COLUMNS.join()}\n`;
  for await (const row of rows) yield `${COLUMNS.map((name) => cellOf(row[name])).join()}\n`;
}

/** RFC 4180: an external client may have any ID. */
function cellOf(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function* linesOf(rows: AsyncIterable<Row>): AsyncIterable<string> {
  for await (const row of rows) yield `${JSON.stringify(row)}\n`;
}
