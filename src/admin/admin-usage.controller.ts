import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { ApiReply } from '../core/http/request.js';
import { StrictInput } from '../core/input/strict-input.decorator.js';
import { invalidRequest } from '../core/input/invalid-request.js';
import type { AuditRecord } from '../core/keys/audit-record.entity.js';
import { AuditTrail } from '../core/keys/audit-trail.js';
import { UsageHistoryQuery } from '../account/usage.dto.js';
import { AuditQuery } from './admin.dto.js';
import { AUDIT_RECORD, pageOf, USAGE } from './admin-view.js';
import { UsageOverview } from './usage-overview.service.js';

/** What happened to all keys: requests and changes. */
@StrictInput()
@ApiTags('usage')
@Controller('admin/v1')
export class AdminUsageController {
  constructor(
    private readonly overview: UsageOverview,
    private readonly audit: AuditTrail,
  ) {}

  @Get('usage')
  @ApiOperation({
    summary: 'Get the requests by hour and plan, and the keys that need attention',
    description:
      'Counts the keys that are banned, or expire within 14 days without a successor. `nearLimit` ' +
      'lists the clients that have used more than 80 % of a limit, each with its latest valid ' +
      'key: the fullest first, at most 50. The last 10 seconds may be missing.',
  })
  @ApiOkResponse({ schema: USAGE })
  adminGetUsage(@Query() { hours }: UsageHistoryQuery) {
    return this.overview.of(hours);
  }

  @Get('audit')
  @ApiOperation({
    summary: 'List changes of keys and bans, the latest first, in the order of their effect',
  })
  @ApiOkResponse({ schema: { type: 'array', items: AUDIT_RECORD } })
  async adminListAudit(
    @Query() { key: chainOf, limit, ...filter }: AuditQuery,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<readonly AuditRecord[]> {
    const { before } = filter;
    if (before !== undefined && !(await this.audit.has(before))) {
      throw invalidRequest(['before must be the ID of an audit record']);
    }
    const found = await this.audit.find(limit + 1, { ...filter, chainOf });
    return pageOf(found, limit, 'before', reply);
  }
}
