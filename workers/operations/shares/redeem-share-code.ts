// POST /v1/share/redeem: the page that asked shows its verifier and gets the fields. Exactly once; a lost answer is told again to the
// same page under its idempotency key while the code would still live, from the share itself: no answer is kept anywhere.
import { authorizeRead, type BusinessStatus } from "../../../core/access/entitlement.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape, type BusinessId, type ClientId, type ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Refusal, type Result } from "../../../core/result.ts";
import { getScopedValues, type ContactKey, type ScopedValues } from "../../../core/shares/fields.ts";
import { computeCodeChallenge } from "../../../core/shares/pkce.ts";
import type { Instant } from "../../../core/time.ts";
import { attemptRedemption, type RedeemedCode } from "../../../storage/share-codes.ts";
import { openShareCopy } from "../../../storage/share-values.ts";
import type { WriteDependencies } from "../dependencies.ts";

export interface RedeemRequest {
  readonly code: string;
  readonly verifier: string;
  readonly clientId: string;
  /** Null where the request has none: a server's. */
  readonly origin: string | null;
  readonly idempotencyKey: string | null;
  readonly requestId: string;
}

export interface Redemption {
  readonly shareId: ShareId;
  readonly fingerprint: string;
  readonly scope: readonly ContactKey[];
  readonly fields: ScopedValues;
  readonly purpose: string;
  readonly grantedAt: Instant;
  readonly expiresAt: Instant;
  readonly businessId: BusinessId;
  readonly isReplayed: boolean;
}

interface RedemptionAttempt {
  readonly clientId: ClientId;
  readonly challenge: string;
  readonly origin: string | null;
  readonly requestId: string;
  readonly retryHash: string | null;
  readonly now: Instant;
}

/** Why nothing was redeemed: who is asking is judged before the state of the code is told. Null: the code had been redeemed by this very caller. */
const getRedemptionRefusal = (code: RedeemedCode | null, asked: RedemptionAttempt): Refusal | null => {
  if (code === null || code.clientId !== asked.clientId) return refuse("code_invalid");
  const isOrigin = asked.origin === null ? code.mayLackOrigin : code.origin === asked.origin;
  if (!isOrigin) return refuse("origin_mismatch");
  if (code.challenge !== asked.challenge) return refuse("pkce_mismatch");
  const readable = authorizeRead(code.businessStatus as BusinessStatus);
  if (!readable.ok) return readable;
  const isActive =
    code.share.state === "active" && code.share.expiresAt > asked.now + code.share.clockOffsetMs && code.valuesSealed !== null;
  if (code.usedAt !== null) {
    const isRetry = asked.retryHash !== null && code.retryHash === asked.retryHash && code.expiresAt > asked.now;
    if (!isRetry) return refuse("code_used");
    return isActive ? null : refuse("share_inactive");
  }
  if (code.expiresAt <= asked.now) return refuse("code_expired");
  return refuse("share_inactive");
};

/** Scheme, host and port as a browser writes them; whatever else it is matches nothing. */
const normalizeOrigin = (origin: string): string => (URL.canParse(origin) ? new URL(origin).origin : origin);

/** Refuses in the order of CONTRACT 1. Only success changes a code. */
export const redeemShareCode = async (services: WriteDependencies, request: RedeemRequest): Promise<Result<Redemption>> => {
  const { vault } = services;
  if (!hasSecretShape(request.code, "ac_")) return refuse("code_invalid");
  const codeHash = sha256Hex(request.code);
  const { idempotencyKey, requestId } = request;
  const asked: RedemptionAttempt = {
    clientId: request.clientId as ClientId,
    challenge: computeCodeChallenge(request.verifier),
    origin: request.origin === null ? null : normalizeOrigin(request.origin),
    requestId,
    retryHash: idempotencyKey === null ? null : await vault.sentHash(`redeem ${codeHash}`, idempotencyKey),
    now: services.clock(),
  };
  const code = await attemptRedemption(services.shards.forId(request.code), { ...asked, codeHash });
  const isWon = code?.usedBy === requestId;
  const refused = isWon ? null : getRedemptionRefusal(code, asked);
  if (code === null || refused !== null) return refused ?? refuse("code_invalid");
  const { shareId, businessId, share } = code;
  const fields = await openShareCopy(vault, { id: shareId, businessId }, code);
  if (fields === null) return refuse("share_inactive");
  if (isWon) services.scheduleFollowUp();
  return ok({
    shareId,
    fingerprint: share.fingerprint,
    scope: share.scope,
    fields: getScopedValues(fields, share.scope),
    purpose: share.purpose,
    grantedAt: share.createdAt,
    expiresAt: share.expiresAt,
    businessId,
    isReplayed: !isWon,
  });
};
