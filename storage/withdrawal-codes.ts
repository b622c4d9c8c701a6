// Codes for withdrawing: asked for, counted, tried. A try is spent in the same statement that hands out what to compare
// with, so however many guesses arrive at once, no more are compared than a code allows. Rows are the same whether or not
// the address is on the certificate, and whether or not a limit is reached: past it a code is dead from the start.
import { codeLimits, codesCountMs, mailsCountMs } from "../core/withdrawals/code.ts";
import type { CertId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { expression, type Expression } from "./sql.ts";

/** Who asks about which certificate. */
export interface Asker {
  readonly certId: CertId;
  readonly addressIndex: string;
  /** Hash of the browser's cookie. */
  readonly contextHash: string;
}

const { mostLive, mailsAnHour, mailsADay, mailsADayForAddress, failuresUntilRare, mailsADayWhenRare } = codeLimits;

const earlier = "FROM withdrawal_codes k WHERE k.expires_at > k.created_at AND"; // codes that were of use
// Codes that were mailed: those for certificates the address is not on reach nobody, and must keep none from the person.
const mailed =
  "FROM withdrawal_codes k JOIN certificates c ON c.id = k.cert_id AND c.email_index = k.address_index WHERE k.expires_at > k.created_at AND";
const ofAsker = "k.cert_id = ?2 AND k.address_index = ?3";

/** A new code; past a limit one that has expired already, which costs the same and is mailed to nobody. */
export const insertCode = (
  db: D1Database,
  asker: Asker,
  code: { readonly id: string; readonly codeHash: string; readonly now: Instant },
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO withdrawal_codes (id, cert_id, address_index, code_hash, context_hash, created_at, expires_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN
         (SELECT COUNT(*) ${earlier} ${ofAsker} AND k.expires_at > ?6) < ${mostLive}
         AND (SELECT COUNT(*) ${earlier} ${ofAsker} AND k.created_at > ?6 - ?8) < ${mailsAnHour}
         AND (SELECT COUNT(*) ${earlier} ${ofAsker} AND k.created_at > ?6 - ?9)
           < CASE WHEN EXISTS (SELECT 1 FROM withdrawal_failures f
                                WHERE f.cert_id = ?2 AND f.address_index = ?3 AND f.failures >= ${failuresUntilRare})
               THEN ${mailsADayWhenRare} ELSE ${mailsADay} END
         AND (SELECT COUNT(*) ${mailed} k.address_index = ?3 AND k.created_at > ?6 - ?9) < ${mailsADayForAddress}
       THEN ?7 ELSE ?6 END`,
    )
    .bind(
      code.id,
      asker.certId,
      asker.addressIndex,
      code.codeHash,
      asker.contextHash,
      code.now,
      code.now + codeLimits.lifeMs,
      mailsCountMs.hour,
      mailsCountMs.day,
    );

/** For the batch of the code: whether it is of use, and whether it is not. */
export const ifOfUse = (id: string): Expression =>
  expression("EXISTS (SELECT 1 FROM withdrawal_codes WHERE id = ? AND expires_at > created_at)", id);
export const unlessOfUse = (id: string): Expression =>
  expression("NOT EXISTS (SELECT 1 FROM withdrawal_codes WHERE id = ? AND expires_at > created_at)", id);

export interface TriedCode {
  readonly id: string;
  readonly codeHash: string;
}

const { triesFromContext, triesFromElsewhere } = codeLimits;

/**
 * Spends one try at every live code that has one left for this asker, and answers with those codes. Then counts the failure,
 * which a withdrawal takes back; the count is written even when it stays as it is, so that nobody can tell by the time it
 * takes whether a code was there.
 */
export const spendTry = async (db: D1Database, asker: Asker, now: Instant): Promise<readonly TriedCode[]> => {
  const [tried] = await db.batch<{ id: string; code_hash: string }>([
    db
      .prepare(
        `UPDATE withdrawal_codes SET own_tries = own_tries + (context_hash = ?3), other_tries = other_tries + (context_hash <> ?3)
         WHERE cert_id = ?1 AND address_index = ?2 AND expires_at > ?4
           AND CASE WHEN context_hash = ?3 THEN own_tries < ${triesFromContext} ELSE other_tries < ${triesFromElsewhere} END
         RETURNING id, code_hash`,
      )
      .bind(asker.certId, asker.addressIndex, asker.contextHash, now),
    // changes() counts the codes tried just before, in the same batch
    db
      .prepare(
        `INSERT INTO withdrawal_failures (cert_id, address_index, failures, updated_at) VALUES (?1, ?2, changes() > 0, ?3)
         ON CONFLICT (cert_id, address_index) DO UPDATE SET failures = failures + excluded.failures, updated_at = excluded.updated_at`,
      )
      .bind(asker.certId, asker.addressIndex, now),
  ]);
  return (tried?.results ?? []).map((row) => ({ id: row.id, codeHash: row.code_hash }));
};

/** Codes that were mailed to the address on the certificate and whose link still works; a day has few of them. */
export const codesWithLink = async (
  db: D1Database,
  asker: Pick<Asker, "certId" | "addressIndex">,
  now: Instant,
): Promise<readonly string[]> => {
  const { results } = await db
    .prepare("SELECT id FROM withdrawal_codes WHERE cert_id = ? AND address_index = ? AND created_at > ? AND expires_at > created_at")
    .bind(asker.certId, asker.addressIndex, now - codeLimits.linkLifeMs)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
};

/** The right answer was given: the row of failures starts anew. */
export const forgetFailures = (db: D1Database, asker: Pick<Asker, "certId" | "addressIndex">): D1PreparedStatement =>
  db.prepare("DELETE FROM withdrawal_failures WHERE cert_id = ? AND address_index = ?").bind(asker.certId, asker.addressIndex);

const failuresKeptMs = 30 * dayMs;

/** What no limit counts any more; at most 1,000 of each a call. */
export const deleteOldCodes = (db: D1Database, now: Instant): D1PreparedStatement[] => [
  db
    .prepare("DELETE FROM withdrawal_codes WHERE id IN (SELECT id FROM withdrawal_codes WHERE created_at <= ? LIMIT 1000)")
    .bind(now - codesCountMs),
  db
    .prepare("DELETE FROM withdrawal_failures WHERE rowid IN (SELECT rowid FROM withdrawal_failures WHERE updated_at <= ? LIMIT 1000)")
    .bind(now - failuresKeptMs),
];
