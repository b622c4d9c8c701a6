// Withdrawing a certificate, and with it the person's others where everything is meant: by the person or as the business recorded it.
import type { Reader } from "../../../core/access/principal.ts";
import type { CertId } from "../../../core/ids.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import { withdraw, type WithdrawalAddress, type WithdrawalChange, type WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawals.ts";
import { activeWithAddress, isWithdrawnAlready, withdrawableById, type WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { afterWithdrawal, commitWithdrawals, maxPerBatch } from "./commit-withdrawals.ts";
import { confirmationMail } from "./confirmation-mail.ts";

export interface LocatedRecord {
  readonly db: Database;
  readonly record: WithdrawableRecord;
}

/** The certificate with what proves who may withdraw it, and the database that holds it; null for an unknown id. */
export const locateRecord = async (services: Stores, certId: CertId): Promise<LocatedRecord | null> => {
  const db = services.homes.of(certId);
  const record = db === null ? null : await withdrawableById(db, certId);
  return db === null || record === null ? null : { db, record };
};

/** The same for a business's key; null also for a certificate that is not its own. */
export const locateOwnRecord = async (services: Stores, reader: Reader, certId: CertId): Promise<LocatedRecord | null> => {
  const located = await locateRecord(services, certId);
  const certificate = located?.record.certificate;
  return certificate?.businessId === reader.business.id && certificate.environment === reader.environment ? located : null;
};

/** What is withdrawn, as it will be answered. */
export interface Withdrawing {
  /** Of an act on single recipients. */
  readonly number: number | null;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Empty where the whole certificate is withdrawn. */
  readonly fromEntities: readonly WithdrawnEntity[];
}

export interface Act {
  readonly change: WithdrawalChange;
  /** Of the mail that confirms it to the person. */
  readonly language: MailLanguage;
  /** Rows that belong to the same change. */
  readonly more: (withdrawing: Withdrawing) => Promise<readonly Statement[]>;
}

const maxAttempts = 3; // another withdrawal of the same person can outdate one reading; more is not one person

/**
 * As many of the person's certificates as fit into one batch, and a row of work for the rest, all or nothing. Refuses
 * `already_revoked` where somebody else withdrew this very certificate first.
 */
export const withdrawCertificate = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record }: LocatedRecord,
  act: Act & {
    readonly scope: WithdrawalScope;
    /** By which the others are found; without one there are none. */
    readonly address: WithdrawalAddress | null;
  },
): Promise<Result<PublishedWithdrawal, "already_revoked">> => {
  const { certificate } = record;
  const { id: certId, businessId, environment } = certificate;
  const { change, scope, address } = act;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const now = services.clock();
    const apiKeyId = change.actor.kind === "api_key" ? change.actor.id : null;
    const work: WithdrawalWork | null =
      scope === "business" && address !== null
        ? { certId, businessId, environment, address, issuedUntil: now, method: change.method, apiKeyId }
        : null;
    const others = work === null ? [] : (await activeWithAddress(db, work, maxPerBatch + 1)).filter(({ id }) => id !== certId);
    const isMore = others.length > maxPerBatch - 1;
    const mail = await confirmationMail(services, db, record, { change, language: act.language, scope, entities: null, now });
    const { withdrawnAt, ceaseBy } = withdraw({ certificate, change, scope, now }).withdrawal;
    const more = await act.more({ number: null, withdrawnAt, ceaseBy, fromEntities: [] });
    try {
      const withdrawal = await commitWithdrawals(
        services,
        db,
        [certificate, ...others.slice(0, maxPerBatch - 1)],
        { change, scope, now },
        { before: mail, after: [...more, ...(work !== null && isMore ? [insertWithdrawalWork(db, work)] : [])] },
      );
      if (isMore) services.scheduleRelay();
      afterWithdrawal(services, certificate);
      return ok(withdrawal);
    } catch (error) {
      if (!isWithdrawnAlready(error)) throw error;
      const again = await withdrawableById(db, certId);
      if (again?.certificate.status === "revoked") return refuse("already_revoked");
    }
  }
  throw new StorageFault("outage"); // withdrawals kept outdating each other: nothing was written
};
