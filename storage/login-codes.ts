// Codes to sign in with. Asked for: one row for known and unknown addresses alike. Tried: counted in the statement that hands
// out what to compare with, so however many guesses arrive at once, no more are compared than a code bears. Spent: by the
// one statement that names its session; whoever comes second finds it named.
import { count, eq, exists, gt, inArray, isNull, lt, lte, notExists, sql, type SQL } from "drizzle-orm";
import { loginCodeLimits, loginCodesKeptMs } from "../core/access/login-code.ts";
import type { Limit } from "../core/access/window.ts";
import { realms, type Realm } from "../core/access/session.ts";
import type { Instant } from "../core/time.ts";
import type { Database } from "./database.ts";
import { loginCodes, sessions } from "./schema.ts";
import { insertIf } from "./inserts.ts";
import { allOf, query } from "./query.ts";

const { lifeMs, tries: maxTries, resendMs } = loginCodeLimits;

export interface AskedAddress {
  readonly realm: Realm;
  readonly emailIndex: string;
}

const { id, realm, emailIndex, codeHash, tries, createdAt, expiresAt } = loginCodes;
const isUnspent = isNull(loginCodes.sessionHash);
const openOf = (address: AskedAddress, now: Instant) =>
  allOf(eq(realm, address.realm), eq(emailIndex, address.emailIndex), isUnspent, gt(expiresAt, now));

/** The row, unless the address had enough of them lately or one is open that was made within the last minute. */
export const insertLoginCode = (
  db: Database,
  address: AskedAddress,
  code: { readonly id: string; readonly codeHash: string; readonly now: Instant; readonly perAddress: Limit },
) => {
  const { now, perAddress } = code;
  const lately = query
    .select({ n: count() })
    .from(loginCodes)
    .where(allOf(inArray(realm, realms), eq(emailIndex, address.emailIndex), gt(createdAt, now - perAddress.seconds * 1_000)));
  const justMade = query
    .select()
    .from(loginCodes)
    .where(allOf(openOf(address, now), gt(createdAt, now - resendMs)));
  const row = { ...address, id: code.id, codeHash: code.codeHash, createdAt: now, expiresAt: now + lifeMs };
  return insertIf(db, loginCodes, row, allOf(sql`${lately} < ${perAddress.count}`, notExists(justMade)));
};

/** For the mail of the same batch: the row was written. */
export const loginCodeIsThere = (code: string): SQL => exists(query.select().from(loginCodes).where(eq(id, code)));

export interface TriedCode {
  readonly id: string;
  readonly codeHash: string;
}

/** Spends a try at every open code of the address and answers with those that had one left. */
export const consumeLoginAttempt = (db: Database, address: AskedAddress, now: Instant): Promise<readonly TriedCode[]> =>
  db
    .update(loginCodes)
    .set({ tries: sql`${tries} + 1` })
    .where(allOf(openOf(address, now), lt(tries, maxTries)))
    .returning({ id, codeHash })
    .all();

/** Names the session a code is spent on; changes no row when another was first. */
export const consumeLoginCode = (db: Database, spent: { readonly codeId: string; readonly sessionHash: string; readonly now: Instant }) =>
  db
    .update(loginCodes)
    .set({ sessionHash: spent.sessionHash })
    .where(allOf(eq(id, spent.codeId), isUnspent, gt(expiresAt, spent.now)));

/** Whoever is signed in needs no other code that is still on its way. */
export const closeLoginCodes = (db: Database, address: AskedAddress, now: Instant, sessionHash: string) =>
  db
    .update(loginCodes)
    .set({ expiresAt: now })
    .where(allOf(openOf(address, now), exists(query.select().from(sessions).where(eq(sessions.tokenHash, sessionHash)))));

/** At most 1,000 a call, so that the sweep stays short however many there are. */
export const deleteOldLoginCodes = (db: Database, now: Instant) => {
  const old = query
    .select({ id })
    .from(loginCodes)
    .where(lte(createdAt, now - loginCodesKeptMs))
    .limit(1_000);
  return db.delete(loginCodes).where(inArray(id, old));
};
