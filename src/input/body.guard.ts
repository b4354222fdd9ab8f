import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { FallbackController } from '../http/fallback.controller.js';
import { filtersOfAll, FROM, judgesOfAll, listNoted, NOTED } from '../http/nest-metadata.js';
import { type Handler, isMadePerRequest, PerOperation } from '../http/operations.js';
import {
  type ApiRequest,
  READS_NO_BODY,
  requestOf,
  type UnreadBody,
} from '../http/request-context.js';
import { isJson, judgeBodyHeaders, parseBody, readBody } from './body-reader.js';
import { dtoOf } from './dto.js';
import { areThereLaterJudges, judgedByGuests } from './later-pipes.js';
import { parametersOf } from './operation-input.js';
import { invalidRequest, reservedNames, shown } from './validation.js';

/** Nest takes no body of these. */
const BODILESS = new Set(['GET', 'HEAD']);
/** Of these a body that is declared must be sent. */
const BODY_METHODS = new Set(['POST', 'PUT', 'PATCH']);

interface Wish {
  /** Whether the operation has a parameter for it. */
  isDeclared: boolean;
  /** Whether all of it goes into a DTO, which knows its members. */
  isJudgedLater: boolean;
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
    if (wish !== undefined && isRead(wish, request)) return read(request, wish.isJudgedLater);
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

async function read(request: ApiRequest, isJudgedLater: boolean): Promise<true> {
  const message: UnreadBody = request.raw;
  judgeBodyHeaders(message);
  const bytes = await readBody(message);
  message.bytes = bytes;
  const body = parseBody(bytes);
  const reserved = isJudgedLater ? [] : reservedNames(body);
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
    const isJudgedLater = bodies.every(
      ({ name, metatype }) => name === undefined && dtoOf(metatype) !== undefined,
    );
    return { isDeclared: true, isJudgedLater, isFor: 'operation' };
  }
  const mayLook =
    parameters.some(({ from, factory }) =>
      from === undefined ? readsBody(factory) : from === FROM.request,
    ) || [controller, handler].some(hasJudgesOfItsOwn);
  const areBystanders = isSeen || [controller, handler].some(hasFiltersOfItsOwn);
  if (!mayLook && !areBystanders) return undefined;
  const isFor = mayLook ? 'operation' : 'bystanders';
  return { isDeclared: false, isJudgedLater: false, isFor };
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
