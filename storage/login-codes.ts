// Codes to sign in with. Asked for: one row for known and unknown addresses alike. Tried: counted in the statement that hands
// out what to compare with, so however many guesses arrive at once, no more are compared than a code bears. Spent: by the
// one statement that names its session; whoever comes second finds it named.
import { loginCodeLimits, loginCodesKeptMs } from "../core/access/login-code.ts";
import type { Limit } from "../core/access/window.ts";
import type { Realm } from "../core/access/session.ts";
import type { Instant } from "../core/time.ts";
import { expression, type Expression } from "./sql.ts";

const { lifeMs, tries, resendMs } = loginCodeLimits;

export interface AskedAddress {
  readonly realm: Realm;
  readonly emailIndex: string;
}

/** The row, unless the address had enough of them lately or one is open that was made within the last minute. */
export const insertLoginCode = (
  db: D1Database,
  address: AskedAddress,
  code: { readonly id: string; readonly codeHash: string; readonly now: Instant; readonly perAddress: Limit },
): D1PreparedStatement =>
  db
    .prepare(
      `INSERT INTO login_codes (id, realm, email_index, code_hash, created_at, expires_at)
       SELECT ?1, ?2, ?3, ?4, ?5, ?5 + ${lifeMs}
       WHERE (SELECT COUNT(*) FROM login_codes WHERE realm IN ('consumer', 'business') AND email_index = ?3 AND created_at > ?5 - ?6) < ?7
         AND NOT EXISTS (SELECT 1 FROM login_codes WHERE realm = ?2 AND email_index = ?3 AND created_at > ?5 - ${resendMs}
           AND session_hash IS NULL AND expires_at > ?5)`,
    )
    .bind(code.id, address.realm, address.emailIndex, code.codeHash, code.now, code.perAddress.seconds * 1_000, code.perAddress.count);

/** For the mail of the same batch: the row was written. */
export const loginCodeIsThere = (id: string): Expression => expression("EXISTS (SELECT 1 FROM login_codes WHERE id = ?)", id);

export interface TriedCode {
  readonly id: string;
  readonly codeHash: string;
}

/** Spends a try at every open code of the address and answers with those that had one left. */
export const spendLoginTry = async (db: D1Database, { realm, emailIndex }: AskedAddress, now: Instant): Promise<readonly TriedCode[]> => {
  const { results } = await db
    .prepare(
      `UPDATE login_codes SET tries = tries + 1
       WHERE realm = ? AND email_index = ? AND session_hash IS NULL AND expires_at > ? AND tries < ${tries}
       RETURNING id, code_hash AS codeHash`,
    )
    .bind(realm, emailIndex, now)
    .all<TriedCode & Record<string, unknown>>();
  return results;
};

/** Names the session a code is spent on; changes no row when another was first. */
export const spendLoginCode = (
  db: D1Database,
  spent: { readonly codeId: string; readonly sessionHash: string; readonly now: Instant },
): D1PreparedStatement =>
  db
    .prepare("UPDATE login_codes SET session_hash = ? WHERE id = ? AND session_hash IS NULL AND expires_at > ?")
    .bind(spent.sessionHash, spent.codeId, spent.now);

/** Whoever is signed in needs no other code that is still on its way. */
export const closeLoginCodes = (
  db: D1Database,
  { realm, emailIndex }: AskedAddress,
  now: Instant,
  sessionHash: string,
): D1PreparedStatement =>
  db
    .prepare(
      `UPDATE login_codes SET expires_at = ?3 WHERE realm = ?1 AND email_index = ?2 AND session_hash IS NULL AND expires_at > ?3
         AND EXISTS (SELECT 1 FROM sessions WHERE token_hash = ?4)`,
    )
    .bind(realm, emailIndex, now, sessionHash);

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteOldLoginCodes = (db: D1Database, now: Instant): D1PreparedStatement =>
  db
    .prepare("DELETE FROM login_codes WHERE id IN (SELECT id FROM login_codes WHERE created_at <= ? LIMIT 1000)")
    .bind(now - loginCodesKeptMs);
