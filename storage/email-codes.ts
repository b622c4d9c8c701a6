// Creates, limits and checks email codes. The same statement returns the hashes to compare and counts the attempt, so concurrent guesses
// cannot exceed the limit. Each request for a code inserts a row, even if no email is sent. If a limit is exceeded, the code is stored as
// already expired. SPEC Authentication, Limits.
import { count, desc, eq, gt, gte, inArray, isNull, or, sql, type SQL } from "drizzle-orm";
import { toStoredIndex, type AddressIndex, type StoredIndex } from "../core/access/address-index.ts";
import type { EmailCodePurpose, EmailCodeLimits } from "../core/access/email-code.ts";
import type { CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import { hasIndex, listOtherForms } from "./address-indexes.ts";
import { batch, type Database } from "./database.ts";
import { selectFailureOf } from "./failed-mail.ts";
import { emailCodeFailures, emailCodes, sessions } from "./schema.ts";
import { excluded, insertIf } from "./inserts.ts";
import { allOf, countIn, existsIn, hasPreviousChange, notExistsIn, query } from "./query.ts";
import { isNotErased } from "./unless-erased.ts";

/** The address that a code verifies, and the purpose of the verification. */
export interface VerifiableAddress {
  readonly purpose: EmailCodePurpose;
  /** What the code is for within its purpose: a business and environment, or a realm. */
  readonly topic: string;
  readonly addressIndex: AddressIndex;
  /** The certificate for which the code was requested, if any. */
  readonly certId: CertId | null;
}

export interface CodeRequester extends VerifiableAddress {
  /** The hash of the browser's cookie, or null if browsers are not distinguished. */
  readonly contextHash: string | null;
}

const { id, codeHash, contextHash, sameContextAttempts, otherContextAttempts, createdAt, expiresAt } = emailCodes;
const wasUsable = gt(expiresAt, createdAt);
const isForAddress = ({ purpose, addressIndex }: Omit<VerifiableAddress, "certId">) =>
  allOf(eq(emailCodes.purpose, purpose), hasIndex(emailCodes.addressIndex, addressIndex));
const isForTopic = (address: Omit<VerifiableAddress, "certId">) => allOf(isForAddress(address), eq(emailCodes.topic, address.topic));
const isOpenFor = (address: VerifiableAddress, now: Instant) =>
  allOf(isForTopic(address), isNull(emailCodes.sessionHash), gt(expiresAt, now));
const isFailureFor = ({ purpose, topic, addressIndex }: VerifiableAddress) =>
  allOf(eq(emailCodeFailures.purpose, purpose), eq(emailCodeFailures.topic, topic), hasIndex(emailCodeFailures.addressIndex, addressIndex));

/** Builds a condition that is true if at least `failures` wrong codes in a row were entered for the address. */
const hasFailed = (address: VerifiableAddress, failures: number): SQL =>
  existsIn(emailCodeFailures, isFailureFor(address), gte(emailCodeFailures.failures, failures));

/** Builds a condition that is true if the limits allow another code. */
const isWithinCodeLimits = (requester: CodeRequester, limits: EmailCodeLimits, now: Instant): SQL => {
  const countSince = (since: Instant) => countIn(emailCodes, wasUsable, isForTopic(requester), gt(createdAt, since));
  const { guessSlowdown } = limits;
  const { withinMs, max, freeOfTopic } = limits.mailsToAddress;
  const since = now - withinMs;
  const ofTopics = query
    .select({ counted: sql<number>`max(${count()} - ${freeOfTopic}, 0)`.as("counted") })
    .from(emailCodes)
    .where(allOf(wasUsable, isForAddress(requester), gt(createdAt, since)))
    .groupBy(emailCodes.topic);
  const toAddress = sql`(select coalesce(sum(counted), 0) from ${ofTopics})`;
  return allOf(
    sql`${countIn(emailCodes, isOpenFor(requester, now))} < ${limits.maxActive}`,
    notExistsIn(emailCodes, isOpenFor(requester, now), gt(createdAt, now - limits.resendDelayMs)),
    ...limits.topicSendLimits.map((limit) => sql`${countSince(now - limit.withinMs)} < ${limit.max}`),
    guessSlowdown === null
      ? sql`true`
      : sql`(not ${hasFailed(requester, guessSlowdown.failures)} or ${countSince(now - guessSlowdown.everyMs)} < 1)`,
    or(sql`${countSince(since)} < ${freeOfTopic}`, sql`${toAddress} < ${max}`) as SQL,
  );
};

/**
 * Inserts a code. If a limit is exceeded, the code is stored as already expired, so it cannot be used and is not emailed. Inserts nothing
 * if the code is for a certificate whose personal data is erased.
 */
export const insertEmailCode = (
  db: Database,
  requester: CodeRequester,
  limits: EmailCodeLimits,
  code: {
    readonly id: string;
    readonly codeHash: StoredIndex;
    /** The ID of the sign-up or invitation that is completed when the code is entered, if any. */
    readonly signupId?: string | null;
    readonly now: Instant;
  },
) => {
  const { now } = code;
  const row = {
    ...requester,
    addressIndex: toStoredIndex(requester.addressIndex),
    id: code.id,
    codeHash: code.codeHash,
    signupId: code.signupId ?? null,
    createdAt: now,
    expiresAt: sql<Instant>`case when ${isWithinCodeLimits(requester, limits, now)} then ${now + limits.lifeMs} else ${now} end`,
  };
  return insertIf(db, emailCodes, row, requester.certId === null ? sql`true` : isNotErased(requester.certId));
};

/** Builds a condition for later statements in the batch. It is true if the code can be used. */
export const isCodeUsable = (codeId: string): SQL => existsIn(emailCodes, eq(id, codeId), wasUsable);
/** Builds a condition for later statements in the batch. It is true if the code can be used and the email address is known. */
export const shouldSendCode = (codeId: string, isKnown: boolean): SQL => allOf(sql`${isKnown ? 1 : 0}`, isCodeUsable(codeId));
/** Builds a condition for later statements in the batch. It is true if the code cannot be used. */
export const isCodeUnusable = (codeId: string): SQL => notExistsIn(emailCodes, eq(id, codeId), wasUsable);

/**
 * Counts one attempt for each open code that the requester may still try, and returns these codes. If there is at least one, also counts
 * one failure, which the caller clears after a correct code. If `failuresFromElsewhere` is set, failures are counted only for a browser
 * that requested none of the open codes. The row with the number of failures is always written, so that response times do not reveal
 * whether a code exists.
 */
export const consumeCodeAttempt = async (
  db: Database,
  requester: CodeRequester,
  { attemptsFromContext, attemptsFromElsewhere, failuresFromElsewhere }: EmailCodeLimits,
  now: Instant,
) => {
  const { purpose, topic, addressIndex, certId } = requester;
  const isOwn = sql`${contextHash} is ${requester.contextHash}`;
  const { failures, updatedAt } = emailCodeFailures;
  const isElsewhereAllowed = failuresFromElsewhere === null ? sql`true` : sql`not ${hasFailed(requester, failuresFromElsewhere)}`;
  const isCounted =
    failuresFromElsewhere === null
      ? hasPreviousChange()
      : sql`(${hasPreviousChange()} and ${notExistsIn(emailCodes, isOpenFor(requester, now), eq(contextHash, requester.contextHash ?? ""))})`;
  const storedIndex = toStoredIndex(addressIndex);
  const others = listOtherForms(addressIndex);
  const { attempts } = await batch(db, {
    // During a rotation of the index encryption keys, the failures can be stored under another form of the index.
    ...(others.length > 0 && {
      aligned: db
        .update(emailCodeFailures)
        .set({ addressIndex: storedIndex })
        .where(
          allOf(
            eq(emailCodeFailures.purpose, purpose),
            eq(emailCodeFailures.topic, topic),
            inArray(emailCodeFailures.addressIndex, [...others]),
          ),
        ),
    }),
    attempts: db
      .update(emailCodes)
      .set({
        sameContextAttempts: sql`${sameContextAttempts} + (${isOwn})`,
        otherContextAttempts: sql`${otherContextAttempts} + not (${isOwn})`,
      })
      .where(
        allOf(
          isOpenFor(requester, now),
          sql`case when ${isOwn} then ${sameContextAttempts} < ${attemptsFromContext} else ${otherContextAttempts} < ${attemptsFromElsewhere} and ${isElsewhereAllowed} end`,
        ),
      )
      .returning({ id, codeHash }),
    failures: db
      .insert(emailCodeFailures)
      .values({ purpose, topic, addressIndex: storedIndex, certId, failures: isCounted as SQL<number>, updatedAt: now })
      .onConflictDoUpdate({
        target: [emailCodeFailures.purpose, emailCodeFailures.topic, emailCodeFailures.addressIndex],
        set: {
          failures: sql`${failures} + ${excluded(failures)}`,
          certId: excluded(emailCodeFailures.certId),
          updatedAt: excluded(updatedAt),
        },
      }),
  });
  return attempts;
};

/** Returns the certificate for which an open code for the address was requested, or null if there is none. */
export const findCertIdOfOpenCode = async (db: Database, address: VerifiableAddress, now: Instant): Promise<CertId | null> =>
  (await db.select({ certId: emailCodes.certId }).from(emailCodes).where(isOpenFor(address, now)).limit(1).get())?.certId ?? null;

/** Lists the IDs of the open codes that this browser requested. Counts no attempt. */
export const listOwnCodeIds = async (db: Database, requester: CodeRequester, now: Instant): Promise<readonly string[]> => {
  const rows = await db
    .select({ id })
    .from(emailCodes)
    .where(allOf(isOpenFor(requester, now), eq(contextHash, requester.contextHash ?? "")));
  return rows.map((row) => row.id);
};

/** Returns the ID of the sign-up or invitation that is completed when this code is entered, or null if there is none. */
export const findSignupIdByCode = async (db: Database, codeId: string): Promise<string | null> =>
  (await db.select({ signupId: emailCodes.signupId }).from(emailCodes).where(eq(id, codeId)).get())?.signupId ?? null;

/** Lists the IDs of the codes created after `since`, except those that exceeded a limit. The limits keep this list short. */
export const listCodeIdsSentSince = async (db: Database, address: VerifiableAddress, since: Instant): Promise<readonly string[]> => {
  const rows = await db
    .select({ id })
    .from(emailCodes)
    .where(allOf(isForTopic(address), gt(createdAt, since), wasUsable));
  return rows.map((row) => row.id);
};

/** Selects the time at which a code for the address was last requested, including codes that exceeded a limit. */
export const selectNewestCodeTime = (db: Database, address: Omit<VerifiableAddress, "certId">) =>
  db.select({ createdAt }).from(emailCodes).where(isForTopic(address)).orderBy(desc(createdAt)).limit(1);

/** Returns true if the service gave up sending the email with this browser's newest code. Ignores codes that exceeded a limit. */
export const hasNewestCodeFailed = async (db: Database, requester: CodeRequester): Promise<boolean> => {
  const newest = await db
    .select({ failedAt: selectFailureOf(id).as("failed_at") })
    .from(emailCodes)
    .where(allOf(isForTopic(requester), eq(contextHash, requester.contextHash ?? ""), wasUsable))
    .orderBy(desc(createdAt))
    .limit(1)
    .get();
  return newest !== undefined && newest.failedAt !== null;
};

export const deleteCodeFailures = (db: Database, address: VerifiableAddress) => db.delete(emailCodeFailures).where(isFailureFor(address));

/** Marks a code as used by a session. Does nothing if the code is already used or has expired. */
export const markCodeUsed = (db: Database, spent: { readonly codeId: string; readonly sessionHash: string; readonly now: Instant }) =>
  db
    .update(emailCodes)
    .set({ sessionHash: spent.sessionHash })
    .where(allOf(eq(id, spent.codeId), isNull(emailCodes.sessionHash), gt(expiresAt, spent.now)));

/** Builds a condition for later statements in the batch. It is true if this session used the code. */
export const isCodeUsedBySession = (codeId: string, sessionHash: string): SQL =>
  existsIn(emailCodes, eq(id, codeId), eq(emailCodes.sessionHash, sessionHash));

/**
 * Returns the statements that expire the other open codes for the address after a sign-in, and clear its failures. They do nothing if the
 * batch did not create the session.
 */
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
