// What a business's own records say about an address or a number, and whether a guess at a certificate's is right. Both look
// up blind indexes; nothing is opened.
import type { Environment } from "../core/access/entitlement.ts";
import type { CertificateStatus } from "../core/certificates/certificate.ts";
import type { ContactBasis } from "../core/contact/verdict.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";

/** Whose contact is asked about: where both are given, a record with either counts. */
export interface SubjectIndexes {
  readonly email: string | null;
  readonly phone: string | null;
}

const mostBasis = 20; // records of one person with one business; more prove nothing more

/** The person declined the recipient that is asked about; where none is, each they were asked about. */
const isRejected = (certificate: string): string =>
  `CASE WHEN ?4 IS NULL THEN ${certificate}.entities_accepted IS '[]'
     ELSE EXISTS (SELECT 1 FROM json_each(${certificate}.entities_rejected) r WHERE r.value = ?4) END`;

const basisOf = (column: "email_index" | "phone_index"): string =>
  `SELECT j.key AS subject, c.id, c.status, w.cease_by, c.issued_at,
     ${isRejected("c")} AS is_rejected
   FROM json_each(?3) j JOIN certificates c ON c.ord IN (
     SELECT i.ord FROM certificates i JOIN purposes p ON p.id = i.purpose_id
      WHERE i.${column} = j.value AND i.business_id = ?1 AND i.environment = ?2
        AND (?4 IS NULL OR EXISTS (SELECT 1 FROM json_each(i.entities) e WHERE e.value = ?4))
        AND (?5 IS NULL OR p.purpose = ?5)
      ORDER BY (i.status = 'active' AND NOT (${isRejected("i")})) DESC,
        i.issued_at DESC LIMIT ${mostBasis})
   LEFT JOIN withdrawals w ON w.cert_id = c.id`;

interface BasisRow {
  subject: number;
  id: string;
  status: CertificateStatus;
  cease_by: Instant | null;
  issued_at: Instant;
  is_rejected: number;
}

/** For each subject, the records about it: what grants contact first, then the newest. One round trip. */
export const contactBasis = async (
  db: D1Database,
  asked: {
    readonly businessId: BusinessId;
    readonly environment: Environment;
    readonly subjects: readonly SubjectIndexes[];
    /** Exactly as on the certificate. */
    readonly entity: string | null;
    readonly purpose: string | null;
  },
): Promise<readonly (readonly ContactBasis[])[]> => {
  const { businessId, environment, subjects, entity, purpose } = asked;
  const query = (column: "email_index" | "phone_index", indexes: readonly (string | null)[]): D1PreparedStatement =>
    db.prepare(basisOf(column)).bind(businessId, environment, JSON.stringify(indexes), entity, purpose);
  const answers = await db.batch<BasisRow>([
    query(
      "email_index",
      subjects.map(({ email }) => email),
    ),
    query(
      "phone_index",
      subjects.map(({ phone }) => phone),
    ),
  ]);
  const bySubject = subjects.map(() => new Map<string, BasisRow>());
  for (const row of answers.flatMap(({ results }) => results)) bySubject[row.subject]?.set(row.id, row);
  const grants = (row: BasisRow): number => (row.status === "active" && row.is_rejected === 0 ? 1 : 0);
  return bySubject.map((rows) =>
    [...rows.values()]
      .sort((a, b) => grants(b) - grants(a) || b.issued_at - a.issued_at)
      .map((row) => ({ certId: row.id, status: row.status, ceaseBy: row.cease_by, isRejected: row.is_rejected === 1 })),
  );
};

export interface MatchableCertificate {
  readonly businessId: BusinessId;
  readonly environment: Environment;
  readonly status: CertificateStatus;
  readonly entities: readonly string[];
  readonly answered: { readonly accepted: readonly string[] } | null;
}

/** The certificate and the names and proved domains of the business that asks, in one query. */
export const matchable = async (db: D1Database, certId: CertId): Promise<MatchableCertificate | null> => {
  const row = await db
    .prepare("SELECT business_id, environment, status, entities, entities_accepted FROM certificates WHERE id = ?")
    .bind(certId)
    .first<{
      business_id: string;
      environment: Environment;
      status: CertificateStatus;
      entities: string;
      entities_accepted: string | null;
    }>();
  if (row === null) return null;
  return {
    businessId: row.business_id as BusinessId,
    environment: row.environment,
    status: row.status,
    entities: JSON.parse(row.entities) as string[],
    answered: row.entities_accepted === null ? null : { accepted: JSON.parse(row.entities_accepted) as string[] },
  };
};

const mostMissesADay = 20;

const given = { email: "?3", phone: "?4" } as const;
const kept = (kind: "email" | "phone"): string => `(SELECT c.${kind}_index FROM certificates c WHERE c.id = match_misses.cert_id)`;
const misses = (kind: "email" | "phone"): string => `(${given[kind]} IS NOT NULL AND ${kept(kind)} IS NOT ${given[kind]})`;
const hits = (kind: "email" | "phone"): string => `CASE WHEN ${given[kind]} IS NOT NULL THEN ${kept(kind)} IS ${given[kind]} END`;

export interface Matched {
  /** Null where it was not asked about. */
  readonly email: boolean | null;
  readonly phone: boolean | null;
}

/**
 * Compares and counts a miss in one statement, so that no number of guesses at once gets past the limit. Null when the
 * day's misses are used up.
 */
export const compareSubject = async (db: D1Database, certId: CertId, guess: SubjectIndexes, day: number): Promise<Matched | null> => {
  const [, compared] = await db.batch<{ email: number | null; phone: number | null }>([
    db.prepare("INSERT INTO match_misses (cert_id, day) VALUES (?, ?) ON CONFLICT DO NOTHING").bind(certId, day),
    db
      .prepare(
        `UPDATE match_misses SET misses = misses + (${misses("email")} OR ${misses("phone")})
         WHERE cert_id = ?1 AND day = ?2 AND misses < ${mostMissesADay}
         RETURNING ${hits("email")} AS email, ${hits("phone")} AS phone`,
      )
      .bind(certId, day, guess.email, guess.phone),
  ]);
  const row = compared?.results[0];
  if (row === undefined) return null;
  return { email: row.email === null ? null : row.email === 1, phone: row.phone === null ? null : row.phone === 1 };
};

/** Days that no limit counts any more. */
export const deleteOldMisses = (db: D1Database, today: number): D1PreparedStatement =>
  db.prepare("DELETE FROM match_misses WHERE rowid IN (SELECT rowid FROM match_misses WHERE day < ? LIMIT 1000)").bind(today);
