import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { FallbackController } from '../http/fallback.controller.js';
import { filtersOfAll, FROM, judgesOfAll, listNoted, NOTED } from '../http/nest-metadata.js';
import { isMadePerRequest } from '../http/operations.js';
import {
  type ApiRequest,
  type Handler,
  PerOperation,
  READS_NO_BODY,
  requestOf,
  type UnreadBody,
} from '../http/request-context.js';
import { type Dto, dtoOf } from './dto.js';
import { JsonDuplicateError, JsonLimitError, type JsonValue, parseJson } from './json.js';
import { areThereLaterJudges, judgedByGuests } from './later-pipes.js';
import { parametersOf } from './operation-input.js';
import { invalidRequest, reservedNames, shown, validated } from './validation.js';

/** Nest takes no body of these. */
const BODILESS = new Set(['GET', 'HEAD']);
/** Of these a body that is declared must be sent. */
const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

interface Wish {
  /** Whether the operation has a parameter for it. */
  isDeclared: boolean;
  /** What all of it goes into, and is judged by later; undefined where nobody knows its members. */
  dto: Dto | undefined;
  /**
   * Whose it is. Who judges every request, answers for failures, or is made for each request takes it where it is
   * JSON, and asks for none.
   */
  isFor: 'operation' | 'bystanders';
}

/**
 * The last of the judges, and the first that lets a byte of the body in: it reads and parses it, as a
 * body parser does elsewhere, and behind it `request.body` is what everybody expects. An operation that
 * takes no body ignores one.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  private readonly wishes = new PerOperation((controller, handler) =>
    wishOf(controller, handler, this.doGuestsSeeAll || isMadePerRequest(this.modules, controller)),
  );
  private readonly judgedLater = new PerOperation((controller, handler) =>
    judgedByGuests(controller, handler, this.modules),
  );
  private haveGlobalGuests: boolean | undefined;

  constructor(private readonly modules: ModulesContainer) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const wish = this.wishes.of(context);
    const request = requestOf(context);
    if (areThereLaterJudges) request.judgedLater = this.judgedLater.of(context);
    if (wish !== undefined && isRead(wish, request)) return read(request, wish.dto);
    return (request.isJudged = true);
  }

  /** Whether guests judge every request, or answer for it; those of ours that do are in the module of this one. */
  private get doGuestsSeeAll(): boolean {
    return (this.haveGlobalGuests ??= [...this.modules.values()].some((module) => {
      const judges = judgesOfAll(module);
      if (judges.includes(BodyGuard)) return false;
      return judges.length > 0 || filtersOfAll(module).length > 0;
    }));
  }
}

function isRead({ isDeclared, isFor }: Wish, { method, raw }: ApiRequest): boolean {
  if (BODILESS.has(method)) return false;
  const isRequired = isDeclared && BODY_METHODS.has(method);
  if (!isRequired && !isSent(raw)) return false;
  return isFor === 'operation' || isJson(raw);
}

async function read(request: ApiRequest, dto: Dto | undefined): Promise<true> {
  const message: UnreadBody = request.raw;
  judgeBodyHeaders(message);
  const bytes = await readBody(message);
  message.bytes = bytes;
  const parsed = parseBody(bytes, dto);
  const body = parsed instanceof Promise ? await parsed : parsed;
  const reserved = dto === undefined ? reservedNames(body) : [];
  if (reserved.length > 0) {
    throw invalidRequest(reserved.map((name) => `${shown(name)} is not a known member`));
  }
  request.body = body;
  return (request.isJudged = true);
}

function isSent({ headers }: UnreadBody): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function wishOf(controller: Type, handler: Handler, isSeen: boolean): Wish | undefined {
  // Who asks for what is not there is told so, whatever was sent with it.
  if (controller === FallbackController) return undefined;
  const parameters = parametersOf(controller, handler);
  const bodies = parameters.filter(({ from }) => from === FROM.body);
  if (bodies.length > 0) {
    const dtos = bodies.map(({ name, metatype }) =>
      name === undefined ? dtoOf(metatype) : undefined,
    );
    const dto = dtos.includes(undefined) ? undefined : dtos[0];
    return { isDeclared: true, dto, isFor: 'operation' };
  }
  const mayLook =
    parameters.some(({ from, factory }) =>
      from === undefined ? readsBody(factory) : from === FROM.request,
    ) || [controller, handler].some(hasJudgesOfItsOwn);
  const areBystanders = isSeen || [controller, handler].some(hasFiltersOfItsOwn);
  if (!mayLook && !areBystanders) return undefined;
  const isFor = mayLook ? 'operation' : 'bystanders';
  return { isDeclared: false, dto: undefined, isFor };
}

function readsBody(judge: unknown): boolean {
  return Reflect.getMetadata(READS_NO_BODY, judge as object) !== true;
}

function hasJudgesOfItsOwn(target: object): boolean {
  return [NOTED.guards, NOTED.interceptors, NOTED.pipes].some((key) =>
    listNoted(target, key).some(readsBody),
  );
}

function hasFiltersOfItsOwn(target: object): boolean {
  return listNoted(target, NOTED.filters).length > 0;
}

/** 64 KiB: some hundred times the largest animal. */
const MAX_BODY_BYTES = 65_536;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** White space belongs to the parameter behind it, or else there are two ways to read it, and 2^n for n. */
const JSON_MEDIA_TYPE = new RegExp(
  `^application/json((?:[ \\t]*;(?:[ \\t]*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?)*)[ \\t]*$`,
  'i',
);
/** Of those that the media type has: a quoted value may hold what looks like another one. */
const PARAMETERS = new RegExp(`(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`, 'g');

/**
 * Refuses a body by what its headers say of it, before one byte is read.
 * @throws {ApiError} 415 `unsupported_media_type`, 413 `payload_too_large`
 */
export function judgeBodyHeaders({ headers }: UnreadBody): void {
  const [, parameters] = JSON_MEDIA_TYPE.exec(headers['content-type'] ?? '') ?? [];
  if (parameters === undefined) {
    throw errors.unsupported_media_type('The body must be sent as application/json');
  }
  for (const [, name, bare, quoted] of parameters.matchAll(PARAMETERS)) {
    if (name!.toLowerCase() === 'charset' && (bare ?? quoted)!.toLowerCase() !== 'utf-8') {
      throw errors.unsupported_media_type('The charset of the body must be utf-8');
    }
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw errors.unsupported_media_type('The body must be sent without content encoding');
  }
  if (Number(headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
}

/** Whether a body says of itself that it is JSON. */
export function isJson({ headers }: UnreadBody): boolean {
  return JSON_MEDIA_TYPE.test(headers['content-type'] ?? '');
}

/** Who did is not to be known. It is for the log: whoever wrote that has to mend it. */
const READ_ALREADY =
  'A middleware or a hook has read the body already, so that none is left for the operation: ' +
  'read request.body in a guard or an interceptor instead, once the service has parsed it';

/**
 * The whole body.
 * @throws {ApiError} 413 `payload_too_large` as soon as it is
 */
export function readBody(body: UnreadBody): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (body.failure !== undefined) throw body.failure;
    // Nothing is told any more of one that is gone already.
    if (body.destroyed && !body.readableEnded) throw brokenOff(undefined);
    if (body.readableDidRead) throw new Error(READ_ALREADY);
    // Of one that was empty, and that a guest has read: its end is told once.
    if (body.readableEnded) return resolve(Buffer.alloc(0));
    body.fail = reject;
    body.acceptBody?.();
    const chunks: Buffer[] = [];
    let size = 0;
    body.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(tooLarge());
    });
    body.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    // The client broke off: nobody reads the answer, yet the request must come to an end.
    body.on('error', (cause) => reject(brokenOff(cause)));
    body.on('close', () => {
      if (!body.readableEnded) reject(brokenOff(undefined));
    });
    // A guest may have paused it.
    body.resume();
  });
}

/**
 * What the body says, int64-exact.
 * @param dto where a member is given twice, what is wrong besides
 * @throws {ApiError} 400 `malformed_json`, or `invalid_request` for a member given twice
 */
export function parseBody(body: Buffer, dto?: Dto): JsonValue | Promise<never> {
  try {
    return parseJson(utf8.decode(body));
  } catch (error) {
    if (error instanceof JsonDuplicateError) return refuseRepeated(error, dto);
    if (error instanceof JsonLimitError) throw invalidRequest([`The body is ${error.message}`]);
    throw errors.malformed_json(`The body is not JSON: ${reasonOf(error, body)}`);
  }
}

/** Names every fault, those of the values included: a caller mends them all at once. */
async function refuseRepeated({ members, value }: JsonDuplicateError, dto?: Dto): Promise<never> {
  const faults = members.map((name) => `${shown(name)} is given twice`);
  if (dto !== undefined && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    try {
      await validated(dto, value);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push(error.message);
    }
  }
  throw invalidRequest(faults);
}

function reasonOf(error: unknown, { length }: Buffer): string {
  if (length === 0) return 'it is empty';
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : message;
}

function tooLarge(): ApiError {
  return errors.payload_too_large(`The body must not exceed ${MAX_BODY_BYTES} bytes`);
}

function brokenOff(cause: unknown): ApiError {
  return errors.malformed_request('The body ended before it was complete', { cause });
}
