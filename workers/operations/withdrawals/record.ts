// The business records a withdrawal that reached it by other means.
import type { Principal } from "../../../core/access/principal.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { receivedAt, type Recorded } from "../../../core/withdrawals/withdrawal.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../../storage/idempotency.ts";
import { isWithdrawnAlready, withdrawableById } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { afterWithdrawal, commitWithdrawals } from "./commit-withdrawals.ts";

export interface Recording extends Recorded {
  readonly idempotencyKey: string | null;
}

export interface RecordedWithdrawal {
  /** As it stood when it was recorded. */
  readonly withdrawal: PublishedWithdrawal;
  readonly isReplayed: boolean;
}

type RecordRefusal = "cert_not_found" | "already_revoked" | "invalid_request" | "idempotency_conflict";

/**
 * The certificate is revoked now; the deadline counts from when the business was told. Refuses cert_not_found, invalid_request
 * (told in the future), idempotency_conflict, already_revoked.
 */
export const recordWithdrawal = async (
  services: Runtime & Stores & Proofs & Schedules,
  principal: Principal,
  certId: CertId,
  { idempotencyKey, ...told }: Recording,
): Promise<Result<RecordedWithdrawal, RecordRefusal>> => {
  const db = services.homes.of(certId);
  if (db === null) return refuse("cert_not_found");
  const load = () => withdrawableById(db, certId);
  const certificate = (await load())?.certificate;
  const isOwn = certificate?.businessId === principal.business.id && certificate.environment === principal.environment;
  if (certificate === undefined || !isOwn) return refuse("cert_not_found");
  const { vault } = services;
  const now = services.clock();
  const at = receivedAt(told.receivedAt, now);
  if (!at.ok) return at;
  const route = `POST /v1/certs/${certId}/withdrawals`;
  const keyHash = idempotencyKey === null ? null : idempotencyKeyHash(principal.keyId, route, idempotencyKey);
  const bodyHash = sha256Hex(canonicalJson({ ...told }));
  // The row that a key leaves says which withdrawal it made: the certificate's only one, and that does not change.
  const earlierAnswer = async (): Promise<Result<RecordedWithdrawal, "idempotency_conflict"> | null> => {
    const kept = keyHash === null ? null : await keptAnswer(db, vault, keyHash, now);
    if (kept === null) return null;
    if (kept.bodyHash !== bodyHash) return refuse("idempotency_conflict");
    const withdrawal = (await load())?.withdrawal;
    if (!withdrawal) throw new Error("withdrawals: a key was used and nothing was recorded");
    return ok({ withdrawal: { ...withdrawal, acknowledgedAt: null }, isReplayed: true });
  };
  const earlier = await earlierAnswer();
  if (earlier !== null) return earlier;
  if (certificate.status === "revoked") return refuse("already_revoked");

  const recorded = { ...told, receivedAt: at.value };
  const actor = { kind: "api_key", id: principal.keyId } as const;
  const change = { method: "business_recorded", scope: "certificate", recorded, actor, now } as const;
  const answer = keyHash === null ? [] : await insertAnswer(db, vault, { keyHash, bodyHash, status: 201, response: "{}", certId, now });
  try {
    const withdrawal = await commitWithdrawals(services, db, [certificate], change, answer);
    afterWithdrawal(services, certificate);
    return ok({ withdrawal, isReplayed: false });
  } catch (error) {
    if (!isTakenKey(error) && !isWithdrawnAlready(error)) throw error;
    return (await earlierAnswer()) ?? refuse("already_revoked"); // the same request, twice at once: the other one recorded it
  }
};
