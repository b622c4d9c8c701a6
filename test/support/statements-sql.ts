// SQL subqueries for tests: all ledger statements, all audit entries, and the position of an audit log.

const coveringBatch = "(SELECT r.ord FROM receipts r WHERE r.ord >= c.change_ord AND r.first_ord <= c.change_ord ORDER BY r.ord LIMIT 1)";

/** A table of all statements. `receipt_ord` is NULL while the ledger does not have the statement. */
export const statementsSql = `(
  SELECT ord, kind, entity_id, event, status, attempts, next_at, last_error, created_at, receipt_ord FROM anchors
  UNION ALL
  SELECT c.change_ord, 'event', c.id, 'certificate.issued', iif(${coveringBatch} IS NULL, 'pending', 'anchored'), 0, c.issued_at, NULL, c.issued_at, ${coveringBatch}
  FROM certificates c
  WHERE NOT EXISTS (SELECT 1 FROM anchors a WHERE a.ord = c.change_ord)
    AND (${coveringBatch} IS NOT NULL OR EXISTS (SELECT 1 FROM changes h WHERE h.ord = c.change_ord AND h.statement IS NOT NULL))
)`;

/** A table of all audit entries. The entries of live issuances are rebuilt from their certificates. */
export const auditEntriesSql = `(
  SELECT ord, type, entity_id, at FROM audit_entries
  UNION ALL
  SELECT change_ord, 'certificate.issued', id, issued_at FROM certificates WHERE audit_salt IS NOT NULL
)`;

/** Selects the number of the last change that an audit log has read. */
export const buildAuditPositionSql = (auditLog: string): string =>
  `(SELECT coalesce(max(ord), 0) FROM (SELECT ord FROM change_readers WHERE reader = 'audit/${auditLog}'
    UNION ALL SELECT ord FROM audit_batches WHERE audit_log = '${auditLog}'))`;
