import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { type AuditRecord, isoTime } from './audit-record.js';
import { StoredAuditRecord } from './audit-record.entity.js';

export interface AuditQuery {
  /** Only records of this key, including the rotation that created it. */
  keyId?: string | undefined;
  limit: number;
}

const OF_KEY = `record.target = :keyId OR (record.action = 'key.rotate'
  AND record.target = (SELECT old.id FROM api_keys old WHERE old.replaced_by = :keyId))`;

/** Reads the audit trail. */
@Injectable()
export class AuditReader {
  constructor(
    @InjectRepository(StoredAuditRecord) private readonly records: Repository<StoredAuditRecord>,
  ) {}

  /** The latest first. */
  async find({ keyId, limit }: AuditQuery): Promise<AuditRecord[]> {
    const query = this.records
      .createQueryBuilder('record')
      .orderBy('record.at', 'DESC')
      .addOrderBy('record.id', 'DESC')
      .limit(limit);
    if (keyId !== undefined) query.where(OF_KEY, { keyId });
    return (await query.getMany()).map(toRecord);
  }
}

function toRecord(stored: StoredAuditRecord): AuditRecord {
  const { id, action, actorType, actorName, target, address, requestId, before, after } = stored;
  const [at, actor] = [isoTime(stored.at)!, { type: actorType, name: actorName }];
  return { id, at, action, actor, target, address, requestId, before, after };
}
