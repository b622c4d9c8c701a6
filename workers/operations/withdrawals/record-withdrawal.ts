// Implements POST /v1/certs/{id}/withdrawals. Records a withdrawal that the person sent to the business directly, for example by phone.
import type { Principal } from "../../../core/access/principal.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { sourceFromBusiness, parseReceivedAt, type RecordedRequest, type WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import {
  idempotencyKeyHash,
  insertIdempotentResponse,
  isIdempotencyKeyTaken,
  findIdempotentResponse,
} from "../../../storage/idempotency.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { locateOwnRecord, type LocatedRecord } from "./locate-record.ts";
import { withdrawCertificate } from "./withdraw-certificate.ts";
import type { WithdrawalResult } from "./withdrawal-request.ts";
import { withdrawFromEntities } from "./withdraw-from-entities.ts";

export interface RecordWithdrawalRequest extends RecordedRequest {
  /** The scope; if null, the business's default scope for recorded withdrawals applies. */
  readonly scope: WithdrawalScope | null;
  /** The recipients to withdraw consent for. If null, `scope` decides. */
  readonly entities: readonly string[] | null;
  readonly idempotencyKey: string | null;
}

export type RecordedWithdrawal = Omit<WithdrawalResult, "certId"> & { readonly isReplayed: boolean };

type RecordWithdrawalRefusal = "cert_not_found" | "already_revoked" | "invalid_request" | "idempotency_conflict";

/**
 * Rebuilds the result of an earlier request from the stored records, which never change. Leaves out acknowledgments, because they were
 * added later.
 */
const toReplayedWithdrawal = ({ record }: LocatedRecord, number: number | null): RecordedWithdrawal => {
  const { withdrawal, entitiesWithdrawn } = record;
  const named = entitiesWithdrawn.filter((entity) => entity.number === number);
  const [first] = named;
  if (first !== undefined) {
    const fromEntities = named.map((entity) => ({ ...entity, acknowledgedAt: null, acknowledgement: null }));
    return { withdrawal: null, withdrawnAt: first.withdrawnAt, ceaseBy: first.ceaseBy, fromEntities, isReplayed: true };
  }
  if (withdrawal === null) throw new Error("withdrawals: a used idempotency key has no withdrawal");
  const { withdrawnAt, ceaseBy } = withdrawal;
  return { withdrawal: { ...withdrawal, acknowledgedAt: null }, withdrawnAt, ceaseBy, fromEntities: [], isReplayed: true };
};

/**
 * Withdraws the certificate, or consent for the given recipients, as of now. The cease deadline counts from `receivedAt` (SPEC Withdrawal).
 * Can return `cert_not_found`, `invalid_request` (a time in the future, or a name that is not a recipient), `idempotency_conflict` and
 * `already_revoked`. Under the idempotency key, only a hash of the request and the number of the entity withdrawal are stored. The response
 * to a repeated request is rebuilt from the records.
 */
export const recordWithdrawal = async (
  services: WithdrawalWriteDependencies,
  principal: Principal,
  certId: CertId,
  { idempotencyKey, ...request }: RecordWithdrawalRequest,
): Promise<Result<RecordedWithdrawal, RecordWithdrawalRefusal>> => {
  const located = await locateOwnRecord(services, principal, certId);
  if (located === null) return refuse("cert_not_found");
  const { db } = located;
  const { vault } = services;
  const now = services.clock();
  const receivedAt = parseReceivedAt(request.receivedAt, now);
  if (!receivedAt.ok) return receivedAt;
  const route = `POST /v1/certs/${certId}/withdrawals`;
  const keyHash = idempotencyKey === null ? null : idempotencyKeyHash(principal.keyId, route, idempotencyKey);
  // Leave out optional properties that are null, so that a new optional property does not change the hash of requests without it.
  const { scope, entities, channel, note } = request;
  const hashed = {
    channel,
    receivedAt: request.receivedAt,
    note,
    ...(scope !== null && { scope }),
    ...(entities !== null && { entities: entities.toSorted() }),
  };
  const bodyHash = sha256Hex(toCanonicalJson(hashed));
  const findEarlierResult = async (): Promise<Result<RecordedWithdrawal, "idempotency_conflict"> | null> => {
    const saved = keyHash === null ? null : await findIdempotentResponse(db, vault, keyHash, now);
    if (saved === null) return null;
    if (saved.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    const current = await locateOwnRecord(services, principal, certId);
    if (current === null) return null;
    return ok(toReplayedWithdrawal(current, (JSON.parse(saved.response) as { act?: number | null }).act ?? null));
  };
  const earlier = await findEarlierResult();
  if (earlier !== null) return earlier;
  if (located.record.certificate.status === "revoked") return refuse("already_revoked");

  const saveIdempotentResponse: SaveIdempotentResponse<WithdrawalResult> = async ({ fromEntities }) => {
    const response = JSON.stringify({ act: fromEntities[0]?.number ?? null });
    return keyHash === null ? [] : insertIdempotentResponse(db, vault, { keyHash, bodyHash, status: 201, response, certId, now });
  };
  const change = sourceFromBusiness({ channel, note, receivedAt: receivedAt.value }, principal.keyId);
  const withdrawal = { change, language: "en", saveIdempotentResponse } as const; // the business does not tell us the person's language
  // A request to stop applies to the person, regardless of the address that it came from, so use every address on the certificate to find
  // the person's other certificates.
  const { addressIndexes } = located.record;
  const appliedScope = addressIndexes.length === 0 ? "certificate" : (scope ?? located.record.recordedScope);
  try {
    const done =
      entities === null
        ? await withdrawCertificate(services, located, { ...withdrawal, scope: appliedScope, addressIndexes })
        : await withdrawFromEntities(services, located, { ...withdrawal, entities });
    if (done.ok) return ok({ ...done.value, isReplayed: false });
    // An identical concurrent request may have recorded the withdrawal first.
    return done.code === "already_revoked" ? ((await findEarlierResult()) ?? done) : done;
  } catch (error) {
    if (!isIdempotencyKeyTaken(error)) throw error;
    return (await findEarlierResult()) ?? refuse("already_revoked");
  }
};
