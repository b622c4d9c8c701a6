// Codes that were asked for, counted, tried. A try is spent in the same statement that hands out what to compare with, so however
// many guesses arrive at once, no more are compared than a code allows. Rows are the same whether or not anybody is mailed, and
// whether or not a limit is reached: past it a code is dead from the start.
import { count, eq, gt, gte, isNull, or, sql, type SQL } from "drizzle-orm";
import type { CodePurpose, MailedCodeLimits } from "../core/access/mailed-code.ts";
import type { CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { mailedCodeFailures, mailedCodes, sessions } from "./schema.ts";
import { excluded } from "./inserts.ts";
import { allOf, countIn, existsIn, noneIn, query } from "./query.ts";

/** Whose control of an address is proved, and for what. */
export interface ProvedAddress {
  readonly purpose: CodePurpose;
  /** What a code opens within its purpose. */
  readonly topic: string;
  readonly addressIndex: string;
  /** The certificate it is asked for; null where there is none. */
  readonly certId: CertId | null;
}

export interface Asker extends ProvedAddress {
  /** Hash of the browser's cookie; null where no browser is told from another. */
  readonly contextHash: string | null;
}

const { id, codeHash, contextHash, ownTries, otherTries, createdAt, expiresAt } = mailedCodes;
const wasOfUse = gt(expiresAt, createdAt);
const ofAddress = ({ purpose, addressIndex }: ProvedAddress) =>
  allOf(eq(mailedCodes.purpose, purpose), eq(mailedCodes.addressIndex, addressIndex));
const ofTopic = (address: ProvedAddress) => allOf(ofAddress(address), eq(mailedCodes.topic, address.topic));
const openOf = (address: ProvedAddress, now: Instant) => allOf(ofTopic(address), isNull(mailedCodes.sessionHash), gt(expiresAt, now));
const failuresOf = ({ purpose, topic, addressIndex }: ProvedAddress) =>
  allOf(eq(mailedCodeFailures.purpose, purpose), eq(mailedCodeFailures.topic, topic), eq(mailedCodeFailures.addressIndex, addressIndex));

/** Whether one more may be mailed, as a condition of the insert. */
const isWithinLimits = (asker: Asker, limits: MailedCodeLimits, now: Instant): SQL => {
  const asked = (since: Instant) => countIn(mailedCodes, wasOfUse, ofTopic(asker), gt(createdAt, since));
  const failedOften = existsIn(mailedCodeFailures, failuresOf(asker), gte(mailedCodeFailures.failures, limits.rare.failures));
  const { withinMs, max, freeOfTopic } = limits.mailsToAddress;
  const since = now - withinMs;
  const ofTopics = query
    .select({ counted: sql<number>`max(${count()} - ${freeOfTopic}, 0)`.as("counted") })
    .from(mailedCodes)
    .where(allOf(wasOfUse, ofAddress(asker), gt(createdAt, since)))
    .groupBy(mailedCodes.topic);
  const toAddress = sql`(select coalesce(sum(counted), 0) from ${ofTopics})`;
  return allOf(
    sql`${countIn(mailedCodes, openOf(asker, now))} < ${limits.maxLive}`,
    noneIn(mailedCodes, openOf(asker, now), gt(createdAt, now - limits.resendMs)),
    ...limits.mails.map((limit) => sql`${asked(now - limit.withinMs)} < ${limit.max}`),
    sql`(not ${failedOften} or ${asked(now - limits.rare.everyMs)} < 1)`,
    or(sql`${asked(since)} < ${freeOfTopic}`, sql`${toAddress} < ${max}`) as SQL,
  );
};

/** A new code; past a limit one that has expired already, which costs the same and is mailed to nobody. */
export const insertCode = (
  db: Database,
  asker: Asker,
  limits: MailedCodeLimits,
  code: {
    readonly id: string;
    readonly codeHash: string;
    /** What it opens besides what it proves; null for nothing. */
    readonly opens?: string | null;
    readonly now: Instant;
  },
) => {
  const { now } = code;
  return db.insert(mailedCodes).values({
    ...asker,
    id: code.id,
    codeHash: code.codeHash,
    opens: code.opens ?? null,
    createdAt: now,
    expiresAt: sql`case when ${isWithinLimits(asker, limits, now)} then ${now + limits.lifeMs} else ${now} end`,
  });
};

/** For the batch of the code: whether it is of use, and whether it is not. */
export const ifOfUse = (code: string): SQL => existsIn(mailedCodes, eq(id, code), wasOfUse);
/** A mail with that code leaves; `isKnown` is whether there is anybody to mail. */
export const ifMailed = (code: string, isKnown: boolean): SQL => allOf(sql`${isKnown ? 1 : 0}`, ifOfUse(code));
export const unlessOfUse = (code: string): SQL => noneIn(mailedCodes, eq(id, code), wasOfUse);

/**
 * Spends one try at every live code that has one left for this asker, and answers with those codes. Then counts the failure,
 * which a right answer takes back; the count is written even when it stays as it is, so that nobody can tell by the time it
 * takes whether a code was there.
 */
export const consumeAttempt = async (
  db: Database,
  asker: Asker,
  { triesFromContext, triesFromElsewhere }: MailedCodeLimits,
  now: Instant,
) => {
  const { purpose, topic, addressIndex, certId } = asker;
  const isOwn = sql`${contextHash} is ${asker.contextHash}`;
  const { failures, updatedAt } = mailedCodeFailures;
  const [tried] = await batch(db, [
    db
      .update(mailedCodes)
      .set({ ownTries: sql`${ownTries} + (${isOwn})`, otherTries: sql`${otherTries} + not (${isOwn})` })
      .where(
        allOf(
          openOf(asker, now),
          sql`case when ${isOwn} then ${ownTries} < ${triesFromContext} else ${otherTries} < ${triesFromElsewhere} end`,
        ),
      )
      .returning({ id, codeHash }),
    // changes() counts the codes tried just before, in the same batch
    db
      .insert(mailedCodeFailures)
      .values({ purpose, topic, addressIndex, certId, failures: sql`changes() > 0`, updatedAt: now })
      .onConflictDoUpdate({
        target: [mailedCodeFailures.purpose, mailedCodeFailures.topic, mailedCodeFailures.addressIndex],
        set: {
          failures: sql`${failures} + ${excluded(failures)}`,
          certId: excluded(mailedCodeFailures.certId),
          updatedAt: excluded(updatedAt),
        },
      }),
  ]);
  return tried;
};

/** What a code opens besides what it proves. */
export const openedBy = async (db: Database, code: string): Promise<string | null> =>
  (await db.select({ opens: mailedCodes.opens }).from(mailedCodes).where(eq(id, code)).get())?.opens ?? null;

/** Codes that were mailed since then; a day has few of them. */
export const codesMailedSince = async (db: Database, address: ProvedAddress, since: Instant): Promise<readonly string[]> => {
  const rows = await db
    .select({ id })
    .from(mailedCodes)
    .where(allOf(ofTopic(address), gt(createdAt, since), wasOfUse));
  return rows.map((row) => row.id);
};

/** The right answer was given: the row of failures starts anew. */
export const forgetFailures = (db: Database, address: ProvedAddress) => db.delete(mailedCodeFailures).where(failuresOf(address));

/** Names the session a code is spent on; changes no row when another was first. */
export const spendCode = (db: Database, spent: { readonly codeId: string; readonly sessionHash: string; readonly now: Instant }) =>
  db
    .update(mailedCodes)
    .set({ sessionHash: spent.sessionHash })
    .where(allOf(eq(id, spent.codeId), isNull(mailedCodes.sessionHash), gt(expiresAt, spent.now)));

/** For the batch of the spending: the code was spent on that session, and on no other. */
export const isSpentOn = (code: string, sessionHash: string): SQL =>
  existsIn(mailedCodes, eq(id, code), eq(mailedCodes.sessionHash, sessionHash));

/** Whoever is signed in needs no other code that is still on its way, and has forgotten none. */
export const closeCodes = (db: Database, address: ProvedAddress, now: Instant, sessionHash: string) => {
  const isSignedIn = existsIn(sessions, eq(sessions.tokenHash, sessionHash));
  return [
    db
      .update(mailedCodes)
      .set({ expiresAt: now })
      .where(allOf(openOf(address, now), isSignedIn)),
    db.delete(mailedCodeFailures).where(allOf(failuresOf(address), isSignedIn)),
  ] as const;
};
