import {
  Body,
  Controller,
  Get,
  HttpCode,
  Injectable,
  Param,
  Patch,
  type PipeTransform,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiTags,
  IntersectionType,
} from '@nestjs/swagger';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { notFound } from '../core/errors/errors.js';
import { clientAddress } from '../core/http/client-address.js';
import type { ApiReply, ApiRequest } from '../core/http/request.js';
import { StrictInput } from '../core/input/strict-input.decorator.js';
import { invalidRequest } from '../core/input/invalid-request.js';
import type { Initiator } from '../core/keys/audit-record.entity.js';
import { KeyList } from '../core/keys/key-list.js';
import { IssuedKeyDto, Key, ReplacingKeyDto } from '../core/keys/key.dto.js';
import { issuedView, rotatedView } from '../core/keys/key-views.js';
import { KeysService } from '../core/keys/keys.service.js';
import { Plans } from '../core/rate-limits/plan.js';
import { RejectedOfClient, Usage, UsageHistory, UsageHistoryQuery } from '../account/usage.dto.js';
import { UsageService } from '../core/usage/usage.service.js';
import { ID, KeyChange, KeyListQuery, NewKey, Rotation } from './admin.dto.js';
import { pageOf } from './admin-view.js';

/** A value that cannot be an ID is a 404, and never reaches the database. */
@Injectable()
class KeyIdPipe implements PipeTransform<string, string> {
  transform(id: string): string {
    if (!ID.test(id)) throw notFound();
    return id;
  }
}

class KeyUsageBody extends IntersectionType(Usage, UsageHistory) {
  @ApiProperty({
    description: 'The latest ten groups of rejected requests of all keys of its client.',
    type: [RejectedOfClient],
  })
  declare rejected: RejectedOfClient[];
}

/** The keys of all clients, for operators. */
@StrictInput()
@ApiTags('keys')
@Controller('admin/v1/keys')
export class AdminKeysController {
  constructor(
    private readonly keys: KeysService,
    private readonly list: KeyList,
    private readonly plans: Plans,
    private readonly usage: UsageService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List keys, in the order of their creation' })
  @ApiOkResponse({ type: [Key] })
  async adminListKeys(
    @Query() { neverUsed, limit, ...filter }: KeyListQuery,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<readonly Key[]> {
    const { after, plan } = filter;
    if (plan !== undefined) this.plans.assertExists(plan);
    if (after !== undefined && (await this.list.count({ id: after })) === 0) {
      throw invalidRequest(['after must be the ID of a key']);
    }
    const isUnused = neverUsed === 'true' || undefined;
    const found = await this.list.find({ ...filter, neverUsed: isUnused, limit: limit + 1 });
    return pageOf(found, limit, 'after', reply);
  }

  @Post()
  @ApiOperation({
    summary: 'Issue a key, which is shown once',
    description: 'Each request issues a key, also with an `Idempotency-Key`, which is ignored.',
  })
  @ApiCreatedResponse({ type: IssuedKeyDto })
  @ApiErrors('insufficient_scope')
  async adminIssueKey(
    @Body() terms: NewKey,
    @Req() request: ApiRequest,
    @Res({ passthrough: true }) reply: ApiReply,
  ) {
    const issued = await this.keys.issue(terms, byAdmin(request));
    reply.header('location', `/admin/v1/keys/${issued.record.id}`);
    return issuedView(issued, this.plans);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Get a key' })
  @ApiOkResponse({ type: Key })
  @ApiErrors('not_found')
  adminGetKey(@Param('id', KeyIdPipe) id: string): Promise<Key> {
    return this.list.get(id);
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change a key', description: 'Each change has its audit record.' })
  @ApiOkResponse({ type: Key })
  @ApiErrors('insufficient_scope', 'not_found', 'key_revoked')
  async adminChangeKey(
    @Param('id', KeyIdPipe) id: string,
    @Body() changes: KeyChange,
    @Req() request: ApiRequest,
  ): Promise<Key> {
    await this.keys.set(id, changes, byAdmin(request));
    return this.list.get(id);
  }

  @Post(':id/rotate')
  @ApiOperation({ summary: 'Rotate a key' })
  @ApiCreatedResponse({ type: ReplacingKeyDto })
  @ApiErrors('insufficient_scope', 'not_found', 'key_already_rotated', 'key_revoked')
  async adminRotateKey(
    @Param('id', KeyIdPipe) id: string,
    @Body() { graceSeconds }: Rotation,
    @Req() request: ApiRequest,
  ) {
    const rotated = await this.keys.rotate(id, graceSeconds * 1_000, byAdmin(request));
    return rotatedView(rotated, this.plans);
  }

  @Post(':id/revoke')
  @HttpCode(200)
  @ApiOperation({ summary: 'Revoke a key permanently' })
  @ApiOkResponse({ type: Key })
  @ApiErrors('insufficient_scope', 'not_found')
  async adminRevokeKey(@Param('id', KeyIdPipe) id: string, @Req() request: ApiRequest) {
    await this.keys.revoke(id, byAdmin(request));
    return this.list.get(id);
  }

  @Post(':id/unban')
  @HttpCode(200)
  @ApiOperation({ summary: 'End the ban of the client of a key' })
  @ApiOkResponse({ type: Key })
  @ApiErrors('insufficient_scope', 'not_found')
  async adminUnbanKey(@Param('id', KeyIdPipe) id: string, @Req() request: ApiRequest) {
    await this.keys.unban(id, byAdmin(request));
    return this.list.get(id);
  }

  @Get(':id/usage')
  @ApiOperation({ summary: 'Get the terms, remaining quota and hourly usage of a key' })
  @ApiOkResponse({ type: KeyUsageBody })
  @ApiErrors('not_found')
  async adminGetKeyUsage(
    @Param('id', KeyIdPipe) id: string,
    @Query() { hours }: UsageHistoryQuery,
  ): Promise<KeyUsageBody> {
    const key = await this.list.get(id);
    const quota = { key: key.clientId, limits: key };
    const expiresAtMs = key.expiresAt === null ? Infinity : Date.parse(key.expiresAt);
    const usage = await this.usage.of({ ...key, quota, expiresAtMs });
    // The counters learn a moment later that a ban was lifted.
    const { bannedUntil } = key;
    return { ...usage, bannedUntil, ...(await this.usage.history(key.clientId, hours)) };
  }
}

function byAdmin(request: ApiRequest): Initiator {
  const actor = { type: 'admin', name: `admin:${request.admin!}` } as const;
  return { actor, address: clientAddress(request), requestId: request.id };
}
