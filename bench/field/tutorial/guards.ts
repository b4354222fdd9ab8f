import { createHash } from 'node:crypto';
import { CanActivate, ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { ThrottlerGuard } from '@nestjs/throttler';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { ApiKey } from './entities.js';

interface Authorized {
  headers: { authorization?: string };
}

@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { headers } = context.switchToHttp().getRequest<Authorized>();
    const [scheme, key = ''] = headers.authorization?.split(' ') ?? [];
    const digest = createHash('sha256').update(key).digest('base64url');
    const known = scheme === 'Bearer' && (await this.keys.findOneBy({ digest }));
    if (!known) throw new UnauthorizedException();
    return true;
  }
}

/** Counts by key instead of by address. */
@Injectable()
export class KeyThrottlerGuard extends ThrottlerGuard {
  protected override getTracker({ headers }: Authorized): Promise<string> {
    return Promise.resolve(headers.authorization ?? '');
  }
}
