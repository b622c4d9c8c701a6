// Implements POST /v1/share/redeem. The page that sent the request presents its PKCE verifier and receives the fields. A code works only
// once. If the response is lost, the same caller can get it again with the same idempotency key until the code expires. The response is
// rebuilt from the share, so it does not need to be stored.
import { authorizeRead, type BusinessStatus } from "../../../core/access/entitlement.ts";
import { normalizeOrigin } from "../../../core/access/origins.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { hasSecretShape, type BusinessId, type ClientId, type ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Refusal, type Result } from "../../../core/result.ts";
import { getScopedValues, type ContactKey, type ScopedValues } from "../../../core/shares/fields.ts";
import { computeCodeChallenge } from "../../../core/shares/pkce.ts";
import type { Instant } from "../../../core/time.ts";
import { attemptRedemption, type RedeemedCode, type RedemptionAttempt } from "../../../storage/share-codes.ts";
import { openShareCopy } from "../../../storage/share-values.ts";
import type { WriteDependencies } from "../dependencies.ts";

export interface RedeemRequest {
  readonly code: string;
  readonly verifier: string;
  readonly clientId: string;
  /** The `Origin` header; null for servers, which do not send one. */
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

/**
 * Returns why this attempt did not redeem the code. Checks the caller before it reveals the code's state. Returns null for a retry by the
 * caller that redeemed the code.
 */
const getRedemptionRefusal = (code: RedeemedCode | null, attempt: RedemptionAttempt): Refusal | null => {
  if (code === null || code.clientId !== attempt.clientId) return refuse("code_invalid");
  const isSameOrigin = attempt.origin === null ? code.mayLackOrigin : code.origin === attempt.origin;
  if (!isSameOrigin) return refuse("origin_mismatch");
  if (code.challenge !== attempt.challenge) return refuse("pkce_mismatch");
  const readable = authorizeRead(code.businessStatus as BusinessStatus);
  if (!readable.ok) return readable;
  const isActive =
    code.share.state === "active" && code.share.expiresAt > attempt.now + code.share.clockOffsetMs && code.valuesSealed !== null;
  if (code.usedAt !== null) {
    const isRetry = attempt.retryHash !== null && code.retryHash === attempt.retryHash && code.expiresAt > attempt.now;
    if (!isRetry) return refuse("code_used");
    return isActive ? null : refuse("share_inactive");
  }
  if (code.expiresAt <= attempt.now) return refuse("code_expired");
  return refuse("share_inactive");
};

/**
 * Redeems a code (SPEC Authorization code). One UPDATE checks every condition and records the request's ID, so that exactly one of several
 * concurrent requests succeeds. A refused attempt changes nothing. Returns the first of these errors that applies:
 * - `code_invalid`: unknown code, or another client's code
 * - `origin_mismatch`, `pkce_mismatch`
 * - the errors for the business's account status
 * - `code_used`, unless the request is a retry
 * - `code_expired`
 * - `share_inactive`
 */
export const redeemShareCode = async (services: WriteDependencies, request: RedeemRequest): Promise<Result<Redemption>> => {
  const { vault } = services;
  if (!hasSecretShape(request.code, "ac_")) return refuse("code_invalid");
  const codeHash = sha256Hex(request.code);
  const { idempotencyKey, requestId } = request;
  const origin = request.origin === null ? null : normalizeOrigin(request.origin);
  const attempt: RedemptionAttempt = {
    codeHash,
    clientId: request.clientId as ClientId,
    challenge: computeCodeChallenge(request.verifier),
    origin,
    requestId,
    retryHash: idempotencyKey === null ? null : await vault.sentHash(`redeem ${codeHash} ${origin}`, idempotencyKey),
    now: services.clock(),
  };
  const code = await attemptRedemption(services.shards.forId(request.code), attempt);
  const isRedeemed = code?.usedBy === requestId;
  const refusal = isRedeemed ? null : getRedemptionRefusal(code, attempt);
  if (code === null || refusal !== null) return refusal ?? refuse("code_invalid");
  const { shareId, businessId, share } = code;
  const fields = await openShareCopy(vault, { id: shareId, businessId }, code);
  if (fields === null) return refuse("share_inactive");
  if (isRedeemed) services.scheduleFollowUp();
  return ok({
    shareId,
    fingerprint: share.fingerprint,
    scope: share.scope,
    fields: getScopedValues(fields, share.scope),
    purpose: share.purpose,
    grantedAt: share.createdAt,
    expiresAt: share.expiresAt,
    businessId,
    isReplayed: !isRedeemed,
  });
};
