// The business records a withdrawal that reached it by other means: of a certificate, of everything the person gave it, or from
// single recipients.
import type { Principal } from "../../../core/access/principal.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import {
  sourceFromBusiness,
  parseReceivedAt,
  selectWithdrawalAddress,
  type RecordedRequest,
  type WithdrawalScope,
} from "../../../core/withdrawals/withdrawal.ts";
import {
  idempotencyKeyHash,
  insertIdempotentResponse,
  isIdempotencyKeyTaken,
  findIdempotentResponse,
} from "../../../storage/idempotency.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { locateOwnRecord, type LocatedRecord } from "./locate-record.ts";
import { withdrawCertificate, type WithdrawalResult } from "./withdraw-certificate.ts";
import { withdrawFromEntities } from "./withdraw-from-entities.ts";

export interface RecordWithdrawalRequest extends RecordedRequest {
  /** Null: as the business has set for all that it records. */
  readonly scope: WithdrawalScope | null;
  /** Only these recipients; null: the scope says from what. */
  readonly entities: readonly string[] | null;
  readonly idempotencyKey: string | null;
}

export type RecordedWithdrawal = Omit<WithdrawalResult, "certId"> & { readonly isReplayed: boolean };

type RecordWithdrawalRefusal = "cert_not_found" | "already_revoked" | "invalid_request" | "idempotency_conflict";

/** What a used key leads back to: the act on single recipients, or the certificate's only withdrawal. Neither changes any more. */
const toReplayedWithdrawal = ({ record }: LocatedRecord, act: number | null): RecordedWithdrawal => {
  const { withdrawal, entitiesWithdrawn } = record;
  const named = entitiesWithdrawn.filter(({ number }) => number === act);
  const [first] = named;
  if (first !== undefined) {
    const fromEntities = named.map((one) => ({ ...one, acknowledgedAt: null, acknowledgement: null }));
    return { withdrawal: null, withdrawnAt: first.withdrawnAt, ceaseBy: first.ceaseBy, fromEntities, isReplayed: true };
  }
  if (withdrawal === null) throw new Error("withdrawals: a key was used and nothing was recorded");
  const { withdrawnAt, ceaseBy } = withdrawal;
  return { withdrawal: { ...withdrawal, acknowledgedAt: null }, withdrawnAt, ceaseBy, fromEntities: [], isReplayed: true };
};

/**
 * The certificate is revoked now, or withdrawn from the recipients that are named; the deadline counts from when the business was
 * told. Refuses cert_not_found, invalid_request (told in the future, somebody who is no recipient), idempotency_conflict, already_revoked.
 */
export const recordWithdrawal = async (
  services: WithdrawalWriteDependencies,
  principal: Principal,
  certId: CertId,
  { idempotencyKey, ...told }: RecordWithdrawalRequest,
): Promise<Result<RecordedWithdrawal, RecordWithdrawalRefusal>> => {
  const located = await locateOwnRecord(services, principal, certId);
  if (located === null) return refuse("cert_not_found");
  const { db } = located;
  const { vault } = services;
  const now = services.clock();
  const at = parseReceivedAt(told.receivedAt, now);
  if (!at.ok) return at;
  const route = `POST /v1/certs/${certId}/withdrawals`;
  const keyHash = idempotencyKey === null ? null : idempotencyKeyHash(principal.keyId, route, idempotencyKey);
  // What is not sent is left out, so that requests from before there was a choice are still the same.
  const { scope, entities, channel, note } = told;
  const asked = {
    channel,
    receivedAt: told.receivedAt,
    note,
    ...(scope !== null && { scope }),
    ...(entities !== null && { entities: entities.toSorted() }),
  };
  const bodyHash = sha256Hex(toCanonicalJson(asked));
  const earlierAnswer = async (): Promise<Result<RecordedWithdrawal, "idempotency_conflict"> | null> => {
    const kept = keyHash === null ? null : await findIdempotentResponse(db, vault, keyHash, now);
    if (kept === null) return null;
    if (kept.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    const again = await locateOwnRecord(services, principal, certId);
    if (again === null) return null;
    return ok(toReplayedWithdrawal(again, (JSON.parse(kept.response) as { act?: number | null }).act ?? null));
  };
  const earlier = await earlierAnswer();
  if (earlier !== null) return earlier;
  if (located.record.certificate.status === "revoked") return refuse("already_revoked");

  const answer: SaveIdempotentResponse<WithdrawalResult> = async ({ fromEntities }) => {
    const response = JSON.stringify({ act: fromEntities[0]?.number ?? null });
    return keyHash === null ? [] : insertIdempotentResponse(db, vault, { keyHash, bodyHash, status: 201, response, certId, now });
  };
  const change = sourceFromBusiness({ channel, note, receivedAt: at.value }, principal.keyId);
  const act = { change, language: "en", more: answer } as const; // nobody knows the person's language here
  const address = selectWithdrawalAddress(located.record);
  const reach = address === null ? "certificate" : (scope ?? located.record.recordedScope);
  try {
    const done =
      entities === null
        ? await withdrawCertificate(services, located, { ...act, scope: reach, address })
        : await withdrawFromEntities(services, located, { ...act, entities });
    if (done.ok) return ok({ ...done.value, isReplayed: false });
    // The same request, twice at once: the other one recorded it.
    return done.code === "already_revoked" ? ((await earlierAnswer()) ?? done) : done;
  } catch (error) {
    if (!isIdempotencyKeyTaken(error)) throw error;
    return (await earlierAnswer()) ?? refuse("already_revoked");
  }
};
