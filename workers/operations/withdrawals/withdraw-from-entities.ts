// Withdraws consent for individual recipients of a certificate. If no recipient is left, withdraws the whole certificate.
import { refuse, ok, type Result } from "../../../core/result.ts";
import { resolveNamedEntities, listActiveEntities, decideEntityWithdrawal } from "../../../core/withdrawals/entity-withdrawal.ts";
import { commit } from "../../../storage/commit.ts";
import { insertEntityWithdrawal, isOutdatedEntityWithdrawal } from "../../../storage/entity-withdrawals.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { findWithdrawable } from "../../../storage/withdrawals.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { prepareOwnerNotice } from "../owner-notices.ts";
import { prepareConfirmationMail } from "./confirmation-mail.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { withdrawCertificate } from "./withdraw-certificate.ts";
import type { WithdrawalRequest, WithdrawalResult } from "./withdrawal-request.ts";

/**
 * Makes one attempt with the loaded record. Throws an error that `isOutdatedEntityWithdrawal` recognizes if the record has changed since it
 * was loaded.
 */
const commitEntityWithdrawal = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  { change, language, addressIndex = null, extraStatements = [], saveIdempotentResponse = async () => [] }: WithdrawalRequest,
  entities: readonly string[],
): Promise<WithdrawalResult> => {
  const { vault, signer } = services;
  const { certificate, entitiesWithdrawn } = record;
  const { id: certId, businessId } = certificate;
  const now = services.clock();
  const number = (entitiesWithdrawn.at(-1)?.number ?? 0) + 1;
  const emitsEvent = record.emitsIssuanceEvents;
  const { withdrawal, receipt, domainEvent } = decideEntityWithdrawal({ certificate, change, number, entities, emitsEvent, now });
  const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(receipt) };
  const data = { certId, entities, ceaseBy: withdrawal.ceaseBy };
  const notice = await prepareOwnerNotice(services, db, businessId, { template: "entities_owner_notice", data });
  const { withdrawnAt, ceaseBy, method, recorded } = withdrawal;
  const named = { number, names: entities };
  const confirmed = { change, language, addressIndex, scope: "certificate", entities: named, withdrawnAt, ceaseBy, now } as const;
  const receivedAt = recorded?.receivedAt ?? null;
  const common = { number, withdrawnAt, ceaseBy, method, receivedAt, acknowledgedAt: null, acknowledgement: null };
  const withdrawn: WithdrawalResult = {
    certId,
    withdrawnAt,
    ceaseBy,
    fromEntities: entities.map((entity) => ({ entity, ...common })),
    withdrawal: null,
  };
  const statements = [
    ...(await prepareConfirmationMail(services, db, record, confirmed)),
    ...(await insertEntityWithdrawal(db, vault, { certId, businessId }, withdrawal, { text: receipt, signature })),
    ...extraStatements,
    ...(await saveIdempotentResponse(withdrawn)),
    ...notice,
  ];
  await commit(db, services, statements, [domainEvent]);
  services.scheduleMail();
  return withdrawn;
};

const maxAttempts = 10; // an attempt fails only if another change to the same certificate is committed first

/**
 * Withdraws consent for those of the named recipients that are still active. Returns `invalid_request` for a name that is not a recipient,
 * and `already_revoked` if consent for all of them is already withdrawn. Throws a StorageFault of kind `outage` after 10 failed attempts.
 */
export const withdrawFromEntities = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  { entities, ...request }: WithdrawalRequest & { readonly entities: readonly string[] },
): Promise<Result<WithdrawalResult, "invalid_request" | "already_revoked">> => {
  const named = resolveNamedEntities(record, entities);
  if (!named.ok) return named;
  const { vault } = services;
  let current = record;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    if (current.certificate.status === "revoked") return refuse("already_revoked");
    const active = listActiveEntities(current);
    const chosen = named.value.filter((name) => active.includes(name));
    if (chosen.length === 0) return refuse("already_revoked");
    if (chosen.length === active.length)
      return withdrawCertificate(services, { db, record: current }, { ...request, scope: "certificate", addressIndexes: [] });
    try {
      return ok(await commitEntityWithdrawal(services, { db, record: current }, request, chosen));
    } catch (error) {
      if (!isOutdatedEntityWithdrawal(error)) throw error;
      const reloaded = await findWithdrawable(db, vault, current.certificate.id);
      if (reloaded === null) throw error;
      current = reloaded;
    }
  }
  throw new StorageFault("outage"); // every attempt failed, and nothing was written
};
