// Single-use codes of the share protocol. A code is stored by its hash; redeeming it is one UPDATE that names everything that must
// hold, stamped with the request, so that of any number of redemptions at once one is told apart by its stamp (SHARES, Redeem).
import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { ClientId } from "../core/ids.ts";
import { codeLifetimeMs } from "../core/shares/request.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, onPrimary, type Database, type Found } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { insertShareAuditEntries, createUnsealedPayload } from "./outboxes/audit.ts";
import { allOf, existsIn, withTablePrefix } from "./query.ts";
import { shareClockOffsetField, shareTime } from "./sandbox-clocks.ts";
import { shareCodes, businesses, domains, shares, shareValues } from "./schema.ts";

/** How long after the decision the same request may be given another code, if none was redeemed. */
const reissueWindowMs = 10 * minuteMs;

/** A batch failed because the request had been decided before. */
export const isAlreadyDecided = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", shareCodes.requestHash) || isConstraintViolation(error, "UNIQUE", shareCodes.codeHash);

/** What was decided on a request; null for one that nobody has decided on, or so long ago that its code is forgotten. */
export const findDecidedRequest = async (db: Database, requestHash: string) =>
  (await onPrimary(db).select().from(shareCodes).where(eq(shareCodes.requestHash, requestHash)).get()) ?? null;

type DecidedRequest = Found<typeof findDecidedRequest>;

export const canReissueCode = ({ usedAt, createdAt }: DecidedRequest, now: Instant): boolean =>
  usedAt === null && now < createdAt + reissueWindowMs;

/** The next generation of an unused code; of two at once, one is given. */
export const reissueCode = async (
  db: Database,
  { shareId, generation }: DecidedRequest,
  codeHash: string,
  now: Instant,
): Promise<boolean> => {
  const changed = await db
    .update(shareCodes)
    .set({ codeHash, generation: generation + 1, expiresAt: now + codeLifetimeMs })
    .where(allOf(eq(shareCodes.shareId, shareId), eq(shareCodes.generation, generation), isNull(shareCodes.usedAt)))
    .returning({ shareId: shareCodes.shareId });
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
const isDomainStillVerified = or(
  isNull(shareCodes.domainId),
  existsIn(domains, eq(domains.id, shareCodes.domainId), eq(domains.status, "verified")),
);

const canOmitOrigin = and(eq(shareCodes.requireOrigin, false), isDomainStillVerified);

/**
 * One attempt, one round trip: the UPDATE that redeems, the entries of both chains where it did, and the code as it is now, from which
 * success or the right refusal is told. Null for an unknown code. Nothing but the UPDATE changes a code.
 */
export const attemptRedemption = async (db: Database, attempt: Redemption) => {
  const { codeHash, clientId, challenge, origin, requestId, retryHash, now } = attempt;
  const isActive = existsIn(shares, eq(shares.id, shareCodes.shareId), eq(shares.state, "active"), gt(shares.expiresAt, shareTime(now)));
  const mayRead = existsIn(businesses, eq(businesses.id, shareCodes.businessId), inArray(businesses.status, ["active", "past_due"]));
  const told = () => createUnsealedPayload({ actor: `client:${clientId}` });
  const { state, scope, fingerprint, purpose, createdAt, expiresAt } = shares;
  const [, , [code]] = await batch(db, [
    db
      .update(shareCodes)
      .set({ usedAt: now, usedBy: requestId, retryHash })
      .where(
        and(
          eq(shareCodes.codeHash, codeHash),
          eq(shareCodes.clientId, clientId),
          eq(shareCodes.challenge, challenge),
          isNull(shareCodes.usedAt),
          gt(shareCodes.expiresAt, now),
          origin === null ? canOmitOrigin : eq(shareCodes.origin, origin),
          isActive,
          mayRead,
        ),
      ),
    insertShareAuditEntries(db, {
      from: sql`${shareCodes} inner join ${shares} on ${shares.id} = ${shareCodes.shareId}`,
      where: allOf(eq(shareCodes.codeHash, codeHash), eq(shareCodes.usedBy, requestId)),
      id: crypto.randomUUID(),
      type: "share.redeemed",
      at: now,
      business: told(),
      person: told(),
    }),
    db
      .select({
        shareId: shareCodes.shareId,
        clientId: shareCodes.clientId,
        origin: shareCodes.origin,
        challenge: shareCodes.challenge,
        mayLackOrigin: sql<boolean>`coalesce(${canOmitOrigin}, false)`.mapWith(Boolean).as("may_lack_origin"),
        expiresAt: shareCodes.expiresAt,
        usedAt: shareCodes.usedAt,
        usedBy: shareCodes.usedBy,
        retryHash: shareCodes.retryHash,
        businessId: shareCodes.businessId,
        businessStatus: businesses.status,
        share: withTablePrefix({ state, scope, fingerprint, purpose, createdAt, expiresAt }),
        clockOffsetMs: shareClockOffsetField.as("clock_offset_ms"),
        keySealed: shares.keySealed,
        valuesSealed: shareValues.valuesSealed,
      })
      .from(shareCodes)
      .innerJoin(shares, eq(shares.id, shareCodes.shareId))
      .innerJoin(businesses, eq(businesses.id, shareCodes.businessId))
      .leftJoin(shareValues, eq(shareValues.shareId, shares.id))
      .where(eq(shareCodes.codeHash, codeHash)),
  ]);
  if (code === undefined) return null;
  const { share, clockOffsetMs, ...rest } = code;
  return { ...rest, share: { ...share, clockOffsetMs } };
};

/** A code with its share as they stood right after the attempt; `usedBy` is the request that used it. */
export type RedeemedCode = Found<typeof attemptRedemption>;
