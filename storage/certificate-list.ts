// The list of a business's certificates: one page and the exact total, at a cost that does not grow with the number of
// certificates. Totals come from the counters kept per purpose, and a search by purpose first finds the purposes (few,
// and they repeat) and then takes the newest certificates of each from its index.
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { ListedCertificate } from "../core/certificates/views.ts";
import type { BusinessId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { foldedPurpose } from "./certificates.ts";
import { publishedWithdrawal, withdrawalColumns } from "./withdrawals.ts";

export interface ListFilter {
  readonly status: CertificateStatus | null;
  readonly emailIndex: string | null;
  readonly phoneIndex: string | null;
  /** Part of the purpose, in any case. */
  readonly purposePart: string | null;
  readonly originDomain: string | null;
  readonly entity: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

interface ListRow {
  id: string;
  status: CertificateStatus;
  fingerprint: string;
  issued_at: Instant;
  purpose: string;
  origin_domain: string;
  entities: string;
  entities_accepted: string | null;
  entities_rejected: string | null;
  subject_masked: string;
  view_count: number;
  environment: Environment;
  withdrawal: string | null;
}

type Bound = string | number;
interface Condition {
  readonly sql: string;
  readonly bound: readonly Bound[];
}

const when = (value: Bound | null, sql: string): Condition[] => (value === null ? [] : [{ sql, bound: [value] }]);

/** Everything but the purpose: that one decides which index is walked. */
const conditionsOf = (filter: ListFilter): Condition[] => [
  ...when(filter.status, "c.status = ?"),
  ...when(filter.emailIndex, "c.email_index = ?"),
  ...when(filter.phoneIndex, "c.phone_index = ?"),
  ...when(filter.originDomain, "c.origin_domain = ?"),
  ...when(filter.entity, "EXISTS (SELECT 1 FROM json_each(c.entities) WHERE value = ?)"),
  ...when(filter.from, "c.issued_at >= ?"),
  ...when(filter.to, "c.issued_at <= ?"),
];

const and = (conditions: readonly Condition[]): string => conditions.map(({ sql }) => ` AND ${sql}`).join("");
const boundOf = (conditions: readonly Condition[]): Bound[] => conditions.flatMap(({ bound }) => bound);

const columns = `c.id, c.status, c.fingerprint, c.issued_at, p.purpose, c.origin_domain, c.entities, c.entities_accepted,
  c.entities_rejected, c.subject_masked, c.view_count, c.environment, ${withdrawalColumns} AS withdrawal`;

const fromRow = (row: ListRow): ListedCertificate => ({
  id: row.id,
  status: row.status,
  fingerprint: row.fingerprint,
  issuedAt: row.issued_at,
  purpose: row.purpose,
  originDomain: row.origin_domain,
  entities: JSON.parse(row.entities) as string[],
  answered:
    row.entities_accepted === null
      ? null
      : { accepted: JSON.parse(row.entities_accepted) as string[], rejected: JSON.parse(row.entities_rejected as string) as string[] },
  subjectMasked: JSON.parse(row.subject_masked) as Record<string, string>,
  viewCount: row.view_count,
  environment: row.environment,
  withdrawal: publishedWithdrawal(row.withdrawal),
});

/** Newest first. One round trip: the page and the total are one batch. */
export const certificatePage = async (
  db: D1Database,
  asked: {
    readonly businessId: BusinessId;
    readonly environment: Environment;
    readonly filter: ListFilter;
    readonly page: number;
    readonly perPage: number;
  },
): Promise<{ readonly certificates: readonly ListedCertificate[]; readonly total: number }> => {
  const { filter } = asked;
  const conditions = conditionsOf(filter);
  const owner: Bound[] = [asked.businessId, asked.environment];
  const offset = (asked.page - 1) * asked.perPage;
  const part = filter.purposePart === null ? null : foldedPurpose(filter.purposePart);
  // instr, not LIKE: LIKE refuses patterns over 50 bytes and would give % and _ a meaning
  const matching = part === null ? "" : " AND instr(p.purpose_folded, ?) > 0";
  const matchingBound: Bound[] = part === null ? [] : [part];

  const page =
    part === null || filter.emailIndex !== null || filter.phoneIndex !== null
      ? db
          .prepare(
            `SELECT ${columns} FROM certificates c JOIN purposes p ON p.id = c.purpose_id
             WHERE c.business_id = ? AND c.environment = ?${and(conditions)}${matching}
             ORDER BY c.issued_at DESC, c.ord DESC LIMIT ? OFFSET ?`,
          )
          .bind(...owner, ...boundOf(conditions), ...matchingBound, asked.perPage, offset)
      : db
          .prepare(
            // The newest page of every matching purpose, from its index; the answer is the newest page of all of these.
            `SELECT ${columns} FROM purposes p JOIN certificates c ON c.ord IN (
               SELECT c.ord FROM certificates c WHERE c.purpose_id = p.id${and(conditions)}
               ORDER BY c.issued_at DESC, c.ord DESC LIMIT ?)
             WHERE p.business_id = ? AND p.environment = ?${matching}
             ORDER BY c.issued_at DESC, c.ord DESC LIMIT ? OFFSET ?`,
          )
          .bind(...boundOf(conditions), offset + asked.perPage, ...owner, ...matchingBound, asked.perPage, offset);

  const countersSuffice = conditions.every(({ sql }) => sql === "c.status = ?");
  const total = countersSuffice
    ? db
        .prepare(
          `SELECT COALESCE(SUM(${filter.status === null ? "p.active + p.revoked" : filter.status === "active" ? "p.active" : "p.revoked"}), 0) AS total
           FROM purposes p WHERE p.business_id = ? AND p.environment = ?${matching}`,
        )
        .bind(...owner, ...matchingBound)
    : db
        .prepare(
          `SELECT COUNT(*) AS total FROM certificates c JOIN purposes p ON p.id = c.purpose_id
           WHERE c.business_id = ? AND c.environment = ?${and(conditions)}${matching}`,
        )
        .bind(...owner, ...boundOf(conditions), ...matchingBound);

  const [rows, totals] = (await db.batch([page, total])) as [D1Result<ListRow>, D1Result<{ total: number }>];
  return { certificates: rows.results.map(fromRow), total: totals.results[0]?.total ?? 0 };
};
