// Codes for withdrawing: asked for, counted, tried. A try is spent in the same statement that hands out what to compare
// with, so however many guesses arrive at once, no more are compared than a code allows. Rows are the same whether or not
// the address is on the certificate, and whether or not a limit is reached: past it a code is dead from the start.
import { count, eq, exists, gt, gte, inArray, lte, ne, notExists, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import { codeLimits, codesCountMs, mailsCountMs } from "../core/withdrawals/code.ts";
import type { CertId } from "../core/ids.ts";
import { dayMs, type Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { certificates, withdrawalCodes, withdrawalFailures } from "./schema.ts";
import { excluded } from "./inserts.ts";
import { allOf, query } from "./query.ts";

/** Who asks about which certificate. */
export interface Asker {
  readonly certId: CertId;
  readonly addressIndex: string;
  /** Hash of the browser's cookie. */
  readonly contextHash: string;
}

const { mostLive, mailsAnHour, mailsADay, mailsADayForAddress, failuresUntilRare, mailsADayWhenRare } = codeLimits;

const { id, createdAt, expiresAt, contextHash, ownTries, otherTries } = withdrawalCodes;
const wasOfUse = gt(expiresAt, createdAt);
const ofAsker = ({ certId, addressIndex }: Pick<Asker, "certId" | "addressIndex">) =>
  allOf(eq(withdrawalCodes.certId, certId), eq(withdrawalCodes.addressIndex, addressIndex));
const failuresOf = ({ certId, addressIndex }: Pick<Asker, "certId" | "addressIndex">) =>
  allOf(eq(withdrawalFailures.certId, certId), eq(withdrawalFailures.addressIndex, addressIndex));

const fewerThan = (max: number | SQL, codes: SQLWrapper): SQL => sql`${codes} < ${max}`;

/** A new code; past a limit one that has expired already, which costs the same and is mailed to nobody. */
export const insertCode = (db: Database, asker: Asker, code: { readonly id: string; readonly codeHash: string; readonly now: Instant }) => {
  const { now } = code;
  const hourAgo = now - mailsCountMs.hour;
  const dayAgo = now - mailsCountMs.day;
  const asked = (since: SQL) =>
    query
      .select({ n: count() })
      .from(withdrawalCodes)
      .where(allOf(wasOfUse, ofAsker(asker), since));
  // Codes that were mailed: those for certificates the address is not on reach nobody, and must keep none from the person.
  const mailedToAddress = query
    .select({ n: count() })
    .from(withdrawalCodes)
    .innerJoin(certificates, allOf(eq(certificates.id, withdrawalCodes.certId), eq(certificates.emailIndex, withdrawalCodes.addressIndex)))
    .where(allOf(wasOfUse, eq(withdrawalCodes.addressIndex, asker.addressIndex), gt(createdAt, dayAgo)));
  const failedOften = exists(
    query
      .select()
      .from(withdrawalFailures)
      .where(allOf(failuresOf(asker), gte(withdrawalFailures.failures, failuresUntilRare))),
  );
  const isWithinLimits = allOf(
    fewerThan(mostLive, asked(gt(expiresAt, now))),
    fewerThan(mailsAnHour, asked(gt(createdAt, hourAgo))),
    fewerThan(sql`case when ${failedOften} then ${mailsADayWhenRare} else ${mailsADay} end`, asked(gt(createdAt, dayAgo))),
    fewerThan(mailsADayForAddress, mailedToAddress),
  );
  return db.insert(withdrawalCodes).values({
    ...asker,
    id: code.id,
    codeHash: code.codeHash,
    createdAt: now,
    expiresAt: sql`case when ${isWithinLimits} then ${now + codeLimits.lifeMs} else ${now} end`,
  });
};

/** For the batch of the code: whether it is of use, and whether it is not. */
const codeOfUse = (code: string) =>
  query
    .select()
    .from(withdrawalCodes)
    .where(allOf(eq(id, code), wasOfUse));
export const ifOfUse = (code: string): SQL => exists(codeOfUse(code));
export const unlessOfUse = (code: string): SQL => notExists(codeOfUse(code));

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
export const consumeAttempt = async (db: Database, asker: Asker, now: Instant): Promise<readonly TriedCode[]> => {
  const isOwn = eq(contextHash, asker.contextHash);
  const { failures, updatedAt } = withdrawalFailures;
  const [tried] = await batch(db, [
    db
      .update(withdrawalCodes)
      .set({ ownTries: sql`${ownTries} + (${isOwn})`, otherTries: sql`${otherTries} + (${ne(contextHash, asker.contextHash)})` })
      .where(
        allOf(
          ofAsker(asker),
          gt(expiresAt, now),
          sql`case when ${isOwn} then ${ownTries} < ${triesFromContext} else ${otherTries} < ${triesFromElsewhere} end`,
        ),
      )
      .returning({ id, codeHash: withdrawalCodes.codeHash }),
    // changes() counts the codes tried just before, in the same batch
    db
      .insert(withdrawalFailures)
      .values({ certId: asker.certId, addressIndex: asker.addressIndex, failures: sql`changes() > 0`, updatedAt: now })
      .onConflictDoUpdate({
        target: [withdrawalFailures.certId, withdrawalFailures.addressIndex],
        set: { failures: sql`${failures} + ${excluded(failures)}`, updatedAt: excluded(updatedAt) },
      }),
  ]);
  return tried;
};

/** Codes that were mailed to the address on the certificate and whose link still works; a day has few of them. */
export const codesWithLink = async (
  db: Database,
  asker: Pick<Asker, "certId" | "addressIndex">,
  now: Instant,
): Promise<readonly string[]> => {
  const rows = await db
    .select({ id })
    .from(withdrawalCodes)
    .where(allOf(ofAsker(asker), gt(createdAt, now - codeLimits.linkLifeMs), wasOfUse));
  return rows.map((row) => row.id);
};

/** The right answer was given: the row of failures starts anew. */
export const forgetFailures = (db: Database, asker: Pick<Asker, "certId" | "addressIndex">) =>
  db.delete(withdrawalFailures).where(failuresOf(asker));

const failuresKeptMs = 30 * dayMs;

/** What no limit counts any more; at most 1,000 a call. */
export const deleteOldCodes = (db: Database, now: Instant) => {
  const codes = query
    .select({ id })
    .from(withdrawalCodes)
    .where(lte(createdAt, now - codesCountMs))
    .limit(1_000);
  return db.delete(withdrawalCodes).where(inArray(id, codes));
};

/** Likewise. */
export const deleteOldFailures = (db: Database, now: Instant) => {
  const rowid = sql`rowid`;
  const failures = query
    .select({ rowid })
    .from(withdrawalFailures)
    .where(lte(withdrawalFailures.updatedAt, now - failuresKeptMs))
    .limit(1_000);
  return db.delete(withdrawalFailures).where(inArray(rowid, failures));
};
