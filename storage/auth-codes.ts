// Single-use codes of the share protocol. A code is stored by its hash; redeeming it is one UPDATE that names everything that must
// hold, stamped with the request, so that of any number of redemptions at once one is told apart by its stamp (SHARES, Redeem).
import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { ClientId } from "../core/ids.ts";
import { codeLifeMs } from "../core/shares/request.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, onPrimary, type Database, type Found } from "./database.ts";
import { violates } from "./faults.ts";
import { insertShareEntries, openEntry } from "./outboxes/audit.ts";
import { allOf, existsIn, named } from "./query.ts";
import { shareClockOffset, timeOfShare } from "./sandbox-clocks.ts";
import { authCodes, businesses, domains, shares, shareValues } from "./schema.ts";

/** How long after the decision the same request may be given another code, if none was redeemed. */
const renewalMs = 10 * minuteMs;

/** A batch failed because the request had been decided before. */
export const isDecidedAlready = (error: unknown): boolean =>
  violates(error, "UNIQUE", authCodes.requestHash) || violates(error, "UNIQUE", authCodes.codeHash);

/** What was decided on a request; null for one that nobody has decided on, or so long ago that its code is forgotten. */
export const decidedRequest = async (db: Database, requestHash: string) =>
  (await onPrimary(db).select().from(authCodes).where(eq(authCodes.requestHash, requestHash)).get()) ?? null;

type DecidedRequest = Found<typeof decidedRequest>;

export const mayBeGivenAnew = ({ usedAt, createdAt }: DecidedRequest, now: Instant): boolean =>
  usedAt === null && now < createdAt + renewalMs;

/** The next generation of an unused code; of two at once, one is given. */
export const giveCodeAnew = async (
  db: Database,
  { shareId, generation }: DecidedRequest,
  codeHash: string,
  now: Instant,
): Promise<boolean> => {
  const changed = await db
    .update(authCodes)
    .set({ codeHash, generation: generation + 1, expiresAt: now + codeLifeMs })
    .where(allOf(eq(authCodes.shareId, shareId), eq(authCodes.generation, generation), isNull(authCodes.usedAt)))
    .returning({ shareId: authCodes.shareId });
  return changed.length > 0;
};

interface Redemption {
  readonly codeHash: string;
  readonly clientId: ClientId;
  readonly challenge: string;
  /** Null where the request names none: a server's. */
  readonly origin: string | null;
  /** Of the request that redeems. */
  readonly requestId: string;
  /** Of the idempotency key; null without one. */
  readonly retryHash: string | null;
  readonly now: Instant;
}

/** The origin's domain is still verified; a test client on http://localhost has none. */
const isStillVerified = or(
  isNull(authCodes.domainId),
  existsIn(domains, eq(domains.id, authCodes.domainId), eq(domains.status, "verified")),
);

const maySpeakWithout = and(eq(authCodes.requireOrigin, false), isStillVerified);

/**
 * One attempt, one round trip: the UPDATE that redeems, the entries of both chains where it did, and the code as it is now, from which
 * success or the right refusal is told. Null for an unknown code. Nothing but the UPDATE changes a code.
 */
export const attemptRedemption = async (db: Database, attempt: Redemption) => {
  const { codeHash, clientId, challenge, origin, requestId, retryHash, now } = attempt;
  const isActive = existsIn(shares, eq(shares.id, authCodes.shareId), eq(shares.state, "active"), gt(shares.expiresAt, timeOfShare(now)));
  const mayRead = existsIn(businesses, eq(businesses.id, authCodes.businessId), inArray(businesses.status, ["active", "past_due"]));
  const told = () => openEntry({ actor: `client:${clientId}` });
  const { state, scope, fingerprint, purpose, createdAt, expiresAt } = shares;
  const [, , [code]] = await batch(db, [
    db
      .update(authCodes)
      .set({ usedAt: now, usedBy: requestId, retryHash })
      .where(
        and(
          eq(authCodes.codeHash, codeHash),
          eq(authCodes.clientId, clientId),
          eq(authCodes.challenge, challenge),
          isNull(authCodes.usedAt),
          gt(authCodes.expiresAt, now),
          origin === null ? maySpeakWithout : eq(authCodes.origin, origin),
          isActive,
          mayRead,
        ),
      ),
    insertShareEntries(db, {
      from: sql`${authCodes} inner join ${shares} on ${shares.id} = ${authCodes.shareId}`,
      where: allOf(eq(authCodes.codeHash, codeHash), eq(authCodes.usedBy, requestId)),
      id: crypto.randomUUID(),
      type: "share.redeemed",
      at: now,
      business: told(),
      person: told(),
    }),
    db
      .select({
        shareId: authCodes.shareId,
        clientId: authCodes.clientId,
        origin: authCodes.origin,
        challenge: authCodes.challenge,
        mayLackOrigin: sql<boolean>`coalesce(${maySpeakWithout}, false)`.mapWith(Boolean).as("may_lack_origin"),
        expiresAt: authCodes.expiresAt,
        usedAt: authCodes.usedAt,
        usedBy: authCodes.usedBy,
        retryHash: authCodes.retryHash,
        businessId: authCodes.businessId,
        businessStatus: businesses.status,
        share: named({ state, scope, fingerprint, purpose, createdAt, expiresAt }),
        clockOffsetMs: shareClockOffset.as("clock_offset_ms"),
        keySealed: shares.keySealed,
        valuesSealed: shareValues.valuesSealed,
      })
      .from(authCodes)
      .innerJoin(shares, eq(shares.id, authCodes.shareId))
      .innerJoin(businesses, eq(businesses.id, authCodes.businessId))
      .leftJoin(shareValues, eq(shareValues.shareId, shares.id))
      .where(eq(authCodes.codeHash, codeHash)),
  ]);
  if (code === undefined) return null;
  const { share, clockOffsetMs, ...rest } = code;
  return { ...rest, share: { ...share, clockOffsetMs } };
};

/** A code with its share as they stood right after the attempt; `usedBy` is the request that used it. */
export type RedeemedCode = Found<typeof attemptRedemption>;
