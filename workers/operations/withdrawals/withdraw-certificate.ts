import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entity-withdrawal.ts";
import {
  decideWithdrawal,
  type WithdrawalSource,
  type WithdrawalScope,
  type WithdrawalAddress,
} from "../../../core/withdrawals/withdrawal.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawal-work.ts";
import { listActiveWithAddress, isAlreadyWithdrawn, findWithdrawable } from "../../../storage/withdrawals.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { maxPerBatch, commitWithdrawals, scheduleWithdrawalFollowUp } from "./commit-withdrawals.ts";
import { prepareConfirmationMail } from "./confirmation-mail.ts";
import type { LocatedRecord } from "./locate-record.ts";

export interface WithdrawalResult {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Single recipients that were withdrawn from; empty where the whole certificate was. */
  readonly fromEntities: readonly WithdrawnEntity[];
  /** Of the whole certificate; null while it stays active for other recipients. */
  readonly withdrawal: PublishedWithdrawal | null;
}

export interface WithdrawalRequest {
  readonly change: WithdrawalSource;
  /** Of the mail that confirms it to the person. */
  readonly language: MailLanguage;
  /** Rows that belong to the same change. */
  readonly more?: SaveIdempotentResponse<WithdrawalResult> | undefined;
}

const maxAttempts = 3;

// another withdrawal of the same person can outdate one reading; more is not one person

/**
 * As many of the person's certificates as fit into one batch, and a row of work for the rest, all or nothing. Refuses
 * `already_revoked` where somebody else withdrew this very certificate first.
 */
export const withdrawCertificate = async (
  services: WithdrawalWriteDependencies,
  { db, record }: LocatedRecord,
  act: WithdrawalRequest & {
    readonly scope: WithdrawalScope;
    /** By which the others are found; without one there are none. */
    readonly address: WithdrawalAddress | null;
  },
): Promise<Result<WithdrawalResult, "already_revoked">> => {
  const { certificate } = record;
  const { id: certId, businessId, environment } = certificate;
  const { change, scope, address, language } = act;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const now = services.clock();
    const apiKeyId = change.actor.kind === "api_key" ? change.actor.id : null;
    const work: WithdrawalWork | null =
      scope === "business" && address !== null
        ? { certId, businessId, environment, address, issuedUntil: now, method: change.method, apiKeyId }
        : null;
    const others = work === null ? [] : (await listActiveWithAddress(db, work, maxPerBatch + 1)).filter(({ id }) => id !== certId);
    const isMore = others.length > maxPerBatch - 1;
    const { withdrawnAt, ceaseBy, method, recorded } = decideWithdrawal({ certificate, change, scope, now }).withdrawal;
    const receivedAt = recorded?.receivedAt ?? null;
    const withdrawal = { withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt: null };
    const withdrawn: WithdrawalResult = { certId, withdrawnAt, ceaseBy, fromEntities: [], withdrawal };
    const rest = work !== null && isMore ? [insertWithdrawalWork(db, work)] : [];
    try {
      await commitWithdrawals(
        services,
        db,
        [certificate, ...others.slice(0, maxPerBatch - 1)],
        { change, scope, now },
        {
          before: await prepareConfirmationMail(services, db, record, { change, language, scope, entities: null, now }),
          after: [...((await act.more?.(withdrawn)) ?? []), ...rest],
        },
      );
      if (isMore) services.scheduleRelay();
      scheduleWithdrawalFollowUp(services, certificate);
      return ok(withdrawn);
    } catch (error) {
      if (!isAlreadyWithdrawn(error)) throw error;
      const again = await findWithdrawable(db, certId);
      if (again?.certificate.status === "revoked") return refuse("already_revoked");
    }
  }
  throw new StorageFault("outage"); // withdrawals kept outdating each other: nothing was written
};
