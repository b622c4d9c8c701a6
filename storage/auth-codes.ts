// Single-use codes of the share protocol. A code is stored by its hash; redeeming it is one UPDATE that names everything that must
// hold, stamped with the request, so that of any number of redemptions at once one is told apart by its stamp (SHARES, Redeem).
import { and, eq, gt, inArray, isNull, or, sql } from "drizzle-orm";
import type { BusinessStatus } from "../core/access/entitlement.ts";
import type { BusinessId, ClientId, ShareId } from "../core/ids.ts";
import { scopeOfBits, type ContactKey } from "../core/shares/fields.ts";
import { codeLifeMs } from "../core/shares/request.ts";
import type { ShareStatus } from "../core/shares/share.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, onPrimary, type Database } from "./database.ts";
import { violates } from "./faults.ts";
import { openEntry, type OpenEntry } from "./outboxes/audit.ts";
import { allOf, existsIn } from "./query.ts";
import { shareClockOffset, timeOfShare } from "./sandbox-clocks.ts";
import { auditOutbox, authCodes, businesses, domains, shares, shareValues } from "./schema.ts";
import type { SealedCopy } from "./share-values.ts";

/** How long after the decision the same request may be given another code, if none was redeemed. */
const renewalMs = 10 * minuteMs;

/** A batch failed because the request had been decided before. */
export const isDecidedAlready = (error: unknown): boolean =>
  violates(error, "UNIQUE", authCodes.requestHash) || violates(error, "UNIQUE", authCodes.codeHash);

export interface DecidedRequest {
  readonly shareId: ShareId;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly usedAt: Instant | null;
}

/** What was decided on a request; null for one that nobody has decided on, or so long ago that its code is forgotten. */
export const decidedRequest = async (db: Database, requestHash: string): Promise<DecidedRequest | null> => {
  const { shareId, generation, createdAt, expiresAt, usedAt } = authCodes;
  const row = await onPrimary(db)
    .select({ shareId, generation, createdAt, expiresAt, usedAt })
    .from(authCodes)
    .where(eq(authCodes.requestHash, requestHash))
    .get();
  return row ?? null;
};

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

export interface Redemption {
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

/** A code with its share as they stood right after the attempt. */
export interface RedeemedCode extends SealedCopy {
  readonly shareId: ShareId;
  readonly clientId: ClientId;
  readonly origin: string;
  readonly challenge: string;
  readonly mayLackOrigin: boolean;
  readonly expiresAt: Instant;
  readonly usedAt: Instant | null;
  /** The request that used it. */
  readonly usedBy: string | null;
  readonly retryHash: string | null;
  readonly businessId: BusinessId;
  readonly businessStatus: BusinessStatus;
  readonly share: {
    readonly state: ShareStatus;
    readonly scope: readonly ContactKey[];
    readonly fingerprint: string;
    readonly purpose: string;
    readonly createdAt: Instant;
    readonly expiresAt: Instant;
    readonly clockOffsetMs: number;
  };
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
export const attemptRedemption = async (db: Database, attempt: Redemption): Promise<RedeemedCode | null> => {
  const { codeHash, clientId, challenge, origin, requestId, retryHash, now } = attempt;
  const isActive = existsIn(shares, eq(shares.id, authCodes.shareId), eq(shares.state, "active"), gt(shares.expiresAt, timeOfShare(now)));
  const mayRead = existsIn(businesses, eq(businesses.id, authCodes.businessId), inArray(businesses.status, ["active", "past_due"]));
  const told = () => openEntry("share.redeemed", { actor: `client:${clientId}` });
  const id = crypto.randomUUID();
  const isMine = allOf(eq(authCodes.codeHash, codeHash), eq(authCodes.usedBy, requestId));
  const row = (
    chain: typeof businesses.auditChain | typeof shares.consumerChain,
    shard: typeof businesses.auditShard | typeof shares.consumerShard,
    { type, hash, text }: OpenEntry,
  ) =>
    sql`select ${id}, ${shard}, ${chain}, ${type}, 'share', ${shares.id}, ${now}, ${hash}, ${text} from ${authCodes} inner join ${shares} on ${shares.id} = ${authCodes.shareId} inner join ${businesses} on ${businesses.id} = ${authCodes.businessId} where ${isMine} and ${chain} is not null`;
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
    db
      .insert(auditOutbox, "id", "shard", "chain", "type", "entityType", "entityId", "at", "payloadHash", "payloadSealed")
      .select(
        sql`${row(businesses.auditChain, businesses.auditShard, told())} union all ${row(shares.consumerChain, shares.consumerShard, told())}`,
      ),
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
        state: shares.state,
        scope: shares.scope,
        fingerprint: shares.fingerprint,
        purpose: shares.purpose,
        grantedAt: shares.createdAt.as("granted_at"),
        endsAt: shares.expiresAt.as("ends_at"),
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
  const { state, scope, fingerprint, purpose, grantedAt, endsAt, clockOffsetMs, ...rest } = code;
  return {
    ...rest,
    share: { state, scope: scopeOfBits(scope), fingerprint, purpose, createdAt: grantedAt, expiresAt: endsAt, clockOffsetMs },
  };
};
