import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { replyOf, requestOf } from '../http/request-context.js';
import { Shedder } from './shedder.js';

/** Between who are you and how much may you: is there any time for it. */
@Injectable()
export class OverloadGuard implements CanActivate {
  constructor(private readonly shedder: Shedder) {}

  canActivate(context: ExecutionContext): boolean | Promise<never> {
    const { quota } = requestOf(context);
    if (quota === undefined) return true;
    return this.shedder.judge(quota, replyOf(context)) ?? true;
  }
}
