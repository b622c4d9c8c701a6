// Authorization codes of the share protocol, stored as hashes. A single UPDATE checks all conditions and records which request used the
// code. Therefore, only one of several concurrent redemptions succeeds (SPEC Authorization code).
import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { ClientId } from "../core/ids.ts";
import { codeLifetimeMs } from "../core/shares/request.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, onPrimary, type Database, type Found } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { recordShareChanges, createUnsealedPayload } from "./audit-entries.ts";
import { allOf, existsIn, withTablePrefix } from "./query.ts";
import { shareClockOffsetField, shareTime } from "./sandbox-clocks.ts";
import { shareCodes, businesses, domains, shares, shareValues } from "./schema.ts";

/** How long after the decision the same request can replace an unused code. */
const reissueWindowMs = 10 * minuteMs;

export const isAlreadyDecided = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", shareCodes.requestHash) || isConstraintViolation(error, "UNIQUE", shareCodes.codeHash);

/** Finds the code of a request that was already decided, or null. */
export const findDecidedRequest = async (db: Database, requestHash: string) =>
  (await onPrimary(db).select().from(shareCodes).where(eq(shareCodes.requestHash, requestHash)).get()) ?? null;

type DecidedRequest = Found<typeof findDecidedRequest>;

export const canReissueCode = ({ usedAt, createdAt }: DecidedRequest, now: Instant): boolean =>
  usedAt === null && now < createdAt + reissueWindowMs;

/** Replaces an unused code. If two calls run concurrently, only one returns true. */
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

export interface RedemptionAttempt {
  readonly codeHash: string;
  readonly clientId: ClientId;
  readonly challenge: string;
  /** The Origin header. Null if the request has none, as for requests from a server. */
  readonly origin: string | null;
  /** The ID of the request that redeems the code. */
  readonly requestId: string;
  /** The keyed hash of the idempotency key, or null if there is none. */
  readonly retryHash: string | null;
  readonly now: Instant;
}

/** True if the origin's domain is still verified, or if the code has no domain, as for a test client on http://localhost. */
const isDomainStillVerified = or(
  isNull(shareCodes.domainId),
  existsIn(domains, eq(domains.id, shareCodes.domainId), eq(domains.status, "verified")),
);

const canOmitOrigin = and(eq(shareCodes.requireOrigin, false), isDomainStillVerified);

/**
 * Tries to redeem a code in one round trip. If this succeeds, also inserts the audit entries. Returns the code and its share, which show
 * whether the attempt succeeded or why it failed. Returns null if the code is unknown.
 */
export const attemptRedemption = async (db: Database, attempt: RedemptionAttempt) => {
  const { codeHash, clientId, challenge, origin, requestId, retryHash, now } = attempt;
  const isActive = existsIn(shares, eq(shares.id, shareCodes.shareId), eq(shares.state, "active"), gt(shares.expiresAt, shareTime(now)));
  const mayRead = existsIn(businesses, eq(businesses.id, shareCodes.businessId), inArray(businesses.status, ["active", "past_due"]));
  const createPayload = () => createUnsealedPayload({ actor: `client:${clientId}` });
  const { state, scope, fingerprint, purpose, createdAt, expiresAt } = shares;
  const { codes } = await batch(db, {
    redemption: db
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
    ...recordShareChanges(db, {
      from: sql`${shareCodes} inner join ${shares} on ${shares.id} = ${shareCodes.shareId}`,
      where: allOf(eq(shareCodes.codeHash, codeHash), eq(shareCodes.usedBy, requestId)),
      id: crypto.randomUUID(),
      type: "share.redeemed",
      at: now,
      max: 1,
      business: createPayload(),
      person: createPayload(),
    }),
    codes: db
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
  });
  const [code] = codes;
  if (code === undefined) return null;
  const { share, clockOffsetMs, ...rest } = code;
  return { ...rest, share: { ...share, clockOffsetMs } };
};

export type RedeemedCode = Found<typeof attemptRedemption>;
