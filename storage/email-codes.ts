// Codes that were asked for, counted, tried. A try is spent in the same statement that hands out what to compare with, so however
// many guesses arrive at once, no more are compared than a code allows. Rows are the same whether or not anybody is mailed, and
// whether or not a limit is reached: past it a code is dead from the start.
import { count, eq, gt, gte, isNull, or, sql, type SQL } from "drizzle-orm";
import type { EmailCodePurpose, EmailCodeLimits } from "../core/access/email-code.ts";
import type { CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { batch, type Database } from "./database.ts";
import { emailCodeFailures, emailCodes, sessions } from "./schema.ts";
import { excluded } from "./inserts.ts";
import { allOf, countIn, existsIn, notExistsIn, query } from "./query.ts";

/** Whose control of an address is proved, and for what. */
export interface VerifiableAddress {
  readonly purpose: EmailCodePurpose;
  /** What a code opens within its purpose. */
  readonly topic: string;
  readonly addressIndex: string;
  /** The certificate it is asked for; null where there is none. */
  readonly certId: CertId | null;
}

export interface CodeRequester extends VerifiableAddress {
  /** Hash of the browser's cookie; null where no browser is told from another. */
  readonly contextHash: string | null;
}

const { id, codeHash, contextHash, sameContextAttempts, otherContextAttempts, createdAt, expiresAt } = emailCodes;
const wasUsable = gt(expiresAt, createdAt);
const isForAddress = ({ purpose, addressIndex }: VerifiableAddress) =>
  allOf(eq(emailCodes.purpose, purpose), eq(emailCodes.addressIndex, addressIndex));
const isForTopic = (address: VerifiableAddress) => allOf(isForAddress(address), eq(emailCodes.topic, address.topic));
const isOpenFor = (address: VerifiableAddress, now: Instant) =>
  allOf(isForTopic(address), isNull(emailCodes.sessionHash), gt(expiresAt, now));
const isFailureFor = ({ purpose, topic, addressIndex }: VerifiableAddress) =>
  allOf(eq(emailCodeFailures.purpose, purpose), eq(emailCodeFailures.topic, topic), eq(emailCodeFailures.addressIndex, addressIndex));

/** Whether one more may be mailed, as a condition of the insert. */
const isWithinCodeLimits = (asker: CodeRequester, limits: EmailCodeLimits, now: Instant): SQL => {
  const asked = (since: Instant) => countIn(emailCodes, wasUsable, isForTopic(asker), gt(createdAt, since));
  const failedOften = existsIn(emailCodeFailures, isFailureFor(asker), gte(emailCodeFailures.failures, limits.guessSlowdown.failures));
  const { withinMs, max, freeOfTopic } = limits.mailsToAddress;
  const since = now - withinMs;
  const ofTopics = query
    .select({ counted: sql<number>`max(${count()} - ${freeOfTopic}, 0)`.as("counted") })
    .from(emailCodes)
    .where(allOf(wasUsable, isForAddress(asker), gt(createdAt, since)))
    .groupBy(emailCodes.topic);
  const toAddress = sql`(select coalesce(sum(counted), 0) from ${ofTopics})`;
  return allOf(
    sql`${countIn(emailCodes, isOpenFor(asker, now))} < ${limits.maxActive}`,
    notExistsIn(emailCodes, isOpenFor(asker, now), gt(createdAt, now - limits.resendDelayMs)),
    ...limits.topicSendLimits.map((limit) => sql`${asked(now - limit.withinMs)} < ${limit.max}`),
    sql`(not ${failedOften} or ${asked(now - limits.guessSlowdown.everyMs)} < 1)`,
    or(sql`${asked(since)} < ${freeOfTopic}`, sql`${toAddress} < ${max}`) as SQL,
  );
};

/** A new code; past a limit one that has expired already, which costs the same and is mailed to nobody. */
export const insertEmailCode = (
  db: Database,
  asker: CodeRequester,
  limits: EmailCodeLimits,
  code: {
    readonly id: string;
    readonly codeHash: string;
    /** What it opens besides what it proves; null for nothing. */
    readonly opens?: string | null;
    readonly now: Instant;
  },
) => {
  const { now } = code;
  return db.insert(emailCodes).values({
    ...asker,
    id: code.id,
    codeHash: code.codeHash,
    signupId: code.opens ?? null,
    createdAt: now,
    expiresAt: sql`case when ${isWithinCodeLimits(asker, limits, now)} then ${now + limits.lifeMs} else ${now} end`,
  });
};

/** For the batch of the code: whether it is of use, and whether it is not. */
export const isCodeUsable = (code: string): SQL => existsIn(emailCodes, eq(id, code), wasUsable);
/** A mail with that code leaves; `isKnown` is whether there is anybody to mail. */
export const shouldSendCode = (code: string, isKnown: boolean): SQL => allOf(sql`${isKnown ? 1 : 0}`, isCodeUsable(code));
export const isCodeUnusable = (code: string): SQL => notExistsIn(emailCodes, eq(id, code), wasUsable);

/**
 * Spends one try at every live code that has one left for this asker, and answers with those codes. Then counts the failure,
 * which a right answer takes back; the count is written even when it stays as it is, so that nobody can tell by the time it
 * takes whether a code was there.
 */
export const consumeCodeAttempt = async (
  db: Database,
  asker: CodeRequester,
  { attemptsFromContext, attemptsFromElsewhere }: EmailCodeLimits,
  now: Instant,
) => {
  const { purpose, topic, addressIndex, certId } = asker;
  const isOwn = sql`${contextHash} is ${asker.contextHash}`;
  const { failures, updatedAt } = emailCodeFailures;
  const [tried] = await batch(db, [
    db
      .update(emailCodes)
      .set({
        sameContextAttempts: sql`${sameContextAttempts} + (${isOwn})`,
        otherContextAttempts: sql`${otherContextAttempts} + not (${isOwn})`,
      })
      .where(
        allOf(
          isOpenFor(asker, now),
          sql`case when ${isOwn} then ${sameContextAttempts} < ${attemptsFromContext} else ${otherContextAttempts} < ${attemptsFromElsewhere} end`,
        ),
      )
      .returning({ id, codeHash }),
    // changes() counts the codes tried just before, in the same batch
    db
      .insert(emailCodeFailures)
      .values({ purpose, topic, addressIndex, certId, failures: sql`changes() > 0`, updatedAt: now })
      .onConflictDoUpdate({
        target: [emailCodeFailures.purpose, emailCodeFailures.topic, emailCodeFailures.addressIndex],
        set: {
          failures: sql`${failures} + ${excluded(failures)}`,
          certId: excluded(emailCodeFailures.certId),
          updatedAt: excluded(updatedAt),
        },
      }),
  ]);
  return tried;
};

/** What a code opens besides what it proves. */
export const findSignupIdByCode = async (db: Database, code: string): Promise<string | null> =>
  (await db.select({ opens: emailCodes.signupId }).from(emailCodes).where(eq(id, code)).get())?.opens ?? null;

/** Codes that were mailed since then; a day has few of them. */
export const listCodeIdsSentSince = async (db: Database, address: VerifiableAddress, since: Instant): Promise<readonly string[]> => {
  const rows = await db
    .select({ id })
    .from(emailCodes)
    .where(allOf(isForTopic(address), gt(createdAt, since), wasUsable));
  return rows.map((row) => row.id);
};

/** The right answer was given: the row of failures starts anew. */
export const deleteCodeFailures = (db: Database, address: VerifiableAddress) => db.delete(emailCodeFailures).where(isFailureFor(address));

/** Names the session a code is spent on; changes no row when another was first. */
export const markCodeUsed = (db: Database, spent: { readonly codeId: string; readonly sessionHash: string; readonly now: Instant }) =>
  db
    .update(emailCodes)
    .set({ sessionHash: spent.sessionHash })
    .where(allOf(eq(id, spent.codeId), isNull(emailCodes.sessionHash), gt(expiresAt, spent.now)));

/** For the batch of the spending: the code was spent on that session, and on no other. */
export const isCodeUsedBySession = (code: string, sessionHash: string): SQL =>
  existsIn(emailCodes, eq(id, code), eq(emailCodes.sessionHash, sessionHash));

/** Whoever is signed in needs no other code that is still on its way, and has forgotten none. */
export const expireOpenCodes = (db: Database, address: VerifiableAddress, now: Instant, sessionHash: string) => {
  const isSignedIn = existsIn(sessions, eq(sessions.tokenHash, sessionHash));
  return [
    db
      .update(emailCodes)
      .set({ expiresAt: now })
      .where(allOf(isOpenFor(address, now), isSignedIn)),
    db.delete(emailCodeFailures).where(allOf(isFailureFor(address), isSignedIn)),
  ] as const;
};
