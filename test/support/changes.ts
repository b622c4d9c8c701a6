// Writes to the change log as a commit does, for tests that need many changes or malformed ones.
import type { ShardId } from "../../core/ids.ts";
import { buildAuditPositionSql } from "./statements-sql.ts";

/** Appends one change for each ID, with an entry in the audit chain and, if `sequence` is not null, an event. */
export const appendAuditedChanges = (
  db: D1Database,
  ids: readonly string[],
  auditLog: ShardId,
  chain: string,
  sequence: string | null = null,
): Promise<unknown> =>
  db.batch([
    db
      .prepare(
        `INSERT INTO changes (id, type, entity_type, entity_id, at, sequence)
         SELECT value, 'share.created', 'share', 'shr_' || value, 1772600767089, ?2 FROM json_each(?1)`,
      )
      .bind(JSON.stringify(ids), sequence),
    db
      .prepare(
        `INSERT INTO audit_entries (ord, chain, id, audit_log, type, entity_type, entity_id, at, payload_hash)
         SELECT (SELECT MAX(ord) FROM changes) - (SELECT COUNT(*) - 1 FROM json_each(?1)) + key, ?2, value, ?3,
           'share.created', 'share', 'shr_' || value, 1772600767089, ?4 FROM json_each(?1)`,
      )
      .bind(JSON.stringify(ids), chain, auditLog, "ab".repeat(32)),
  ]);

/**
 * Appends one change with an audit entry for each ID. Also adds a row for each change to `kept_records`, a table that the test must create.
 */
export const appendChangesOfRecords = (
  db: D1Database,
  ids: readonly string[],
  auditLog: ShardId,
  chain: string,
  sequence: string | null,
): Promise<unknown> =>
  db.batch([
    db
      .prepare(
        `INSERT INTO changes (id, type, entity_type, entity_id, at, sequence, chain, audit_log, payload_hash)
         SELECT value, 'certificate.issued', 'certificate', 'cc_' || value, 1772600767089, ?2, ?3, ?4, ?5 FROM json_each(?1)`,
      )
      .bind(JSON.stringify(ids), sequence, chain, auditLog, "ab".repeat(32)),
    db
      .prepare(
        `INSERT INTO kept_records (ord, id, audit_log)
         SELECT (SELECT MAX(ord) FROM changes) - (SELECT COUNT(*) - 1 FROM json_each(?1)) + key, value, ?2 FROM json_each(?1)`,
      )
      .bind(JSON.stringify(ids), auditLog),
  ]);

/** Adds copies of an audit entry, each with its own change. */
export const copyAuditEntry = (db: D1Database, id: string, chain: string, count: number): Promise<unknown> =>
  db.batch([
    db
      .prepare(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
         INSERT INTO changes (id, type, entity_type, entity_id, at)
         SELECT 'copy-' || i || '-' || e.id, e.type, e.entity_type, e.entity_id, e.at FROM n, audit_entries e WHERE e.id = ?2 AND e.chain = ?3`,
      )
      .bind(count, id, chain),
    db
      .prepare(
        `INSERT INTO audit_entries (ord, chain, id, audit_log, type, entity_type, entity_id, at, payload_hash)
         SELECT c.ord, e.chain, c.id, e.audit_log, e.type, e.entity_type, e.entity_id, e.at, e.payload_hash
         FROM changes c, audit_entries e WHERE c.ord > (SELECT MAX(ord) FROM changes) - ?1 AND e.id = ?2 AND e.chain = ?3`,
      )
      .bind(count, id, chain),
  ]);

/** Counts the audit entries that an audit log has not processed, including those that it has set aside. */
export const countUnreadEntries = async (db: D1Database, auditLog: ShardId): Promise<number> =>
  (await db
    .prepare(
      `SELECT (SELECT COUNT(*) FROM audit_entries WHERE audit_log = ?1
         AND ord > ${buildAuditPositionSql(auditLog)})
         + (SELECT COUNT(*) FROM change_exceptions WHERE reader = ?2) AS n`,
    )
    .bind(auditLog, `audit/${auditLog}`)
    .first<number>("n")) as number;
