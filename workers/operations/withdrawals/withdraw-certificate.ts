// Withdraws a whole certificate and, with scope `business`, the person's other certificates with that business.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { shardOfId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { decideWithdrawal, type WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertWithdrawalWork } from "../../../storage/outboxes/withdrawal-work.ts";
import { listActiveWithAddress, isOutdatedWithdrawal, findWithdrawable } from "../../../storage/withdrawals.ts";
import { mayHaveWaitingCertificates } from "../intake/waiting-certificates.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { maxPerBatch, commitWithdrawals, scheduleWithdrawalFollowUp } from "./commit-withdrawals.ts";
import { prepareConfirmationMail } from "./confirmation-mail.ts";
import type { LocatedRecord } from "./locate-record.ts";
import type { WithdrawalRequest, WithdrawalResult } from "./withdrawal-request.ts";

interface CertificateWithdrawalRequest extends WithdrawalRequest {
  readonly scope: WithdrawalScope;
  /** The blind indexes of the addresses whose other certificates are also withdrawn. If the list is empty, only this certificate is. */
  readonly addressIndexes: readonly AddressIndex[];
}

/**
 * Makes one attempt with the loaded record. Throws an error that `isOutdatedWithdrawal` recognizes if the record has changed since it was
 * loaded.
 */
const commitCertificateWithdrawal = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  request: CertificateWithdrawalRequest,
): Promise<WithdrawalResult> => {
  const { change, scope, addressIndexes, addressIndex = null, language, extraStatements = [] } = request;
  const { certificate, hasOtherShards: forAllShards } = record;
  const { id: certId, businessId, environment } = certificate;
  const now = services.clock();
  const { withdrawnAt, ceaseBy, method, recorded } = decideWithdrawal({ certificate, change, scope, now }).withdrawal;
  const withdrawal = { withdrawnAt, ceaseBy, method, scope, receivedAt: recorded?.receivedAt ?? null, acknowledgedAt: null };
  const withdrawn: WithdrawalResult = { certId, withdrawnAt, ceaseBy, fromEntities: [], withdrawal };
  const apiKeyId = change.actor.kind === "api_key" ? change.actor.id : null;
  const work = { certId, businessId, environment, addressIndexes, issuedUntil: withdrawnAt, method, apiKeyId, forAllShards };
  const coversOthers = scope === "business" && addressIndexes.length > 0;
  const mayWait = coversOthers && (await mayHaveWaitingCertificates(services, shardOfId(certId), work));
  const listed = coversOthers ? await listActiveWithAddress(db, work, maxPerBatch + 1) : [];
  const certificates = [certificate, ...listed.filter(({ id }) => id !== certId)];
  const hasRest = coversOthers && (mayWait || forAllShards || certificates.length > maxPerBatch);
  const confirmed = { change, language, addressIndex, scope, entities: null, withdrawnAt, ceaseBy, now };
  const before = await prepareConfirmationMail(services, db, record, confirmed);
  const saved = (await request.saveIdempotentResponse?.(withdrawn)) ?? [];
  const after = [...extraStatements, ...saved, ...(hasRest ? [insertWithdrawalWork(db, work)] : [])];
  await commitWithdrawals(services, db, certificates.slice(0, maxPerBatch), { change, scope, now: withdrawnAt }, { before, after });
  if (hasRest) services.scheduleRelay();
  scheduleWithdrawalFollowUp(services, certificate);
  return withdrawn;
};

const maxAttempts = 3; // an attempt fails only if another withdrawal of the same person's certificates is committed first

/**
 * In one transaction, withdraws as many certificates as fit into a batch, and writes an outbox row for the rest. The rest includes
 * certificates that are still in a journal. Returns `already_revoked` if this certificate was withdrawn in the meantime. Throws a
 * StorageFault of kind `outage` after three failed attempts.
 */
export const withdrawCertificate = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  request: CertificateWithdrawalRequest,
): Promise<Result<WithdrawalResult, "already_revoked">> => {
  let current = record;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    try {
      return ok(await commitCertificateWithdrawal(services, { db, record: current }, request));
    } catch (error) {
      if (!isOutdatedWithdrawal(error)) throw error;
      const reloaded = await findWithdrawable(db, services.vault, current.certificate.id);
      if (reloaded === null) throw error;
      if (reloaded.certificate.status === "revoked") return refuse("already_revoked");
      current = reloaded;
    }
  }
  throw new StorageFault("outage"); // every attempt failed, and nothing was written
};
