// Withdraws a whole certificate and, with scope `business`, the person's other certificates with that business.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { shardOfId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { decideWithdrawal, type WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawal-work.ts";
import { listActiveWithAddress, isOutdatedWithdrawal, findWithdrawable } from "../../../storage/withdrawals.ts";
import { mayHaveWaitingCertificates } from "../intake/waiting-certificates.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { maxPerBatch, commitWithdrawals, scheduleWithdrawalFollowUp } from "./commit-withdrawals.ts";
import { prepareConfirmationMail } from "./confirmation-mail.ts";
import type { LocatedRecord } from "./locate-record.ts";
import type { WithdrawalRequest, WithdrawalResult } from "./withdrawal-request.ts";

const maxAttempts = 3; // an attempt fails only if another withdrawal of the same person's certificates is committed first

/**
 * In one transaction, withdraws as many certificates as fit into a batch, and writes an outbox row for the rest. The rest includes
 * certificates that are still in a journal. Returns `already_revoked` if this certificate was withdrawn in the meantime. Throws a
 * StorageFault of kind `outage` after three failed attempts.
 */
export const withdrawCertificate = async (
  services: WithdrawalWriteDependencies,
  { db, record: located }: LocatedRecord,
  request: WithdrawalRequest & {
    readonly scope: WithdrawalScope;
    /** The blind indexes of the addresses whose other certificates are also withdrawn. If the list is empty, only this certificate is. */
    readonly addressIndexes: readonly AddressIndex[];
  },
): Promise<Result<WithdrawalResult, "already_revoked">> => {
  const { id: certId, businessId, environment } = located.certificate;
  const {
    change,
    scope,
    addressIndexes,
    addressIndex = null,
    language,
    extraStatements = [],
    saveIdempotentResponse = async () => [],
  } = request;
  let record = located;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const { certificate } = record;
    const now = services.clock();
    const { withdrawnAt, ceaseBy, method, recorded } = decideWithdrawal({ certificate, change, scope, now }).withdrawal;
    const apiKeyId = change.actor.kind === "api_key" ? change.actor.id : null;
    const work: WithdrawalWork | null =
      scope === "business" && addressIndexes.length > 0
        ? {
            certId,
            businessId,
            environment,
            addressIndexes,
            issuedUntil: withdrawnAt,
            method: change.method,
            apiKeyId,
            forAllShards: record.hasOtherShards,
          }
        : null;
    const mayWait = work !== null && (await mayHaveWaitingCertificates(services, shardOfId(certId), work));
    const others = work === null ? [] : (await listActiveWithAddress(db, work, maxPerBatch + 1)).filter(({ id }) => id !== certId);
    const hasMore = others.length > maxPerBatch - 1;
    const receivedAt = recorded?.receivedAt ?? null;
    const withdrawal = { withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt: null };
    const withdrawn: WithdrawalResult = { certId, withdrawnAt, ceaseBy, fromEntities: [], withdrawal };
    const confirmed = { change, language, addressIndex, scope, entities: null, withdrawnAt, ceaseBy, now };
    const rest = work !== null && (hasMore || mayWait || work.forAllShards) ? [insertWithdrawalWork(db, work)] : [];
    try {
      await commitWithdrawals(
        services,
        db,
        [certificate, ...others.slice(0, maxPerBatch - 1)],
        { change, scope, now: withdrawnAt },
        {
          before: await prepareConfirmationMail(services, db, record, confirmed),
          after: [...extraStatements, ...(await saveIdempotentResponse(withdrawn)), ...rest],
        },
      );
      if (rest.length > 0) services.scheduleRelay();
      scheduleWithdrawalFollowUp(services, certificate);
      return ok(withdrawn);
    } catch (error) {
      if (!isOutdatedWithdrawal(error)) throw error;
      const current = await findWithdrawable(db, services.vault, certId);
      if (current === null) throw error;
      if (current.certificate.status === "revoked") return refuse("already_revoked");
      record = current;
    }
  }
  throw new StorageFault("outage"); // every attempt failed, and nothing was written
};
