// Withdrawing certificates, by the person or as the business recorded it: one of them, and with it the person's others where everything
// is meant. Signed receipts, audit entries, statements for the ledger, events and mails are one batch, all or nothing.
import { ceaseBy as deadlineOf } from "../../../core/business-days.ts";
import type { Reader } from "../../../core/access/principal.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published.ts";
import { entityReceiptUrlOf, receiptUrlOf } from "../../../core/certificates/views.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import { withdrawalReceiptText } from "../../../core/withdrawals/receipt.ts";
import {
  byBusiness,
  byPerson,
  withdraw,
  type WithdrawableCertificate,
  type WithdrawalAddress,
  type WithdrawalChange,
  type WithdrawalScope,
} from "../../../core/withdrawals/withdrawal.ts";
import { sealedMailbox } from "../../../storage/certificates.ts";
import { commitQuietly } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import {
  continueWithdrawalWork,
  finishWithdrawalWork,
  insertWithdrawalWork,
  type WithdrawalWork,
} from "../../../storage/outboxes/withdrawals.ts";
import { ownerMails } from "../../../storage/owners.ts";
import {
  activeWithAddress,
  ifFewUnproved,
  insertWithdrawal,
  isWithdrawnAlready,
  recordedOf,
  withdrawableById,
  type WithdrawableRecord,
} from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";

export interface LocatedRecord {
  readonly db: Database;
  readonly record: WithdrawableRecord;
}

/** The certificate with what proves who may withdraw it, and the database that holds it; null for an unknown id. */
export const locateRecord = async (services: Stores, certId: CertId): Promise<LocatedRecord | null> => {
  const db = services.homes.of(certId);
  const record = await withdrawableById(db, certId);
  return record === null ? null : { db, record };
};

/** The same for a business's key; null also for a certificate that is not its own. */
export const locateOwnRecord = async (services: Stores, reader: Reader, certId: CertId): Promise<LocatedRecord | null> => {
  const located = await locateRecord(services, certId);
  const certificate = located?.record.certificate;
  return certificate?.businessId === reader.business.id && certificate.environment === reader.environment ? located : null;
};

export interface Withdrawn {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Single recipients that were withdrawn from; empty where the whole certificate was. */
  readonly fromEntities: readonly WithdrawnEntity[];
  /** Of the whole certificate; null while it stays active for other recipients. */
  readonly withdrawal: PublishedWithdrawal | null;
}

export interface Act {
  readonly change: WithdrawalChange;
  /** Of the mail that confirms it to the person. */
  readonly language: MailLanguage;
  /** Rows that belong to the same change. */
  readonly more?: Keeping<Withdrawn> | undefined;
}

/**
 * A code or a mailed link is the person's own doing. Any other withdrawal can follow from a form that a stranger filled in with this
 * address, so at most three a day are confirmed by one business to one address.
 */
const maxUnproved = 3;

/**
 * The mail that tells the person what was withdrawn, until when contact must end, and whom to turn to. Its row stands in the batch before
 * those of the withdrawal; there is none where the certificate holds no address.
 */
export const confirmationMail = async (
  { vault, config }: Runtime & Stores,
  db: Database,
  { certificate, subjectSealed, emailIndex, contact, mailingAddress }: WithdrawableRecord,
  confirmed: Omit<Act, "more"> & {
    readonly scope: WithdrawalScope;
    /** The act on single recipients; null of the whole certificate. */
    readonly entities: { readonly number: number; readonly names: readonly string[] } | null;
    readonly now: Instant;
  },
): Promise<readonly Statement[]> => {
  const { change, language, scope, entities, now } = confirmed;
  const { id: certId, businessId, environment, businessName } = certificate;
  const to = await sealedMailbox(vault, certId, businessId, subjectSealed);
  if (to === null || emailIndex === null) return [];
  const onlyIf =
    change.method === "email_code"
      ? undefined
      : ifFewUnproved({ businessId, environment, address: { kind: "email", index: emailIndex } }, now - dayMs, maxUnproved);
  return insertMail(db, vault, {
    template: "withdrawal_confirmation",
    data: {
      cert_id: certId,
      business_name: businessName,
      by: change.method === "business_recorded" ? "business" : "person",
      entities: entities?.names ?? null,
      is_everything: scope === "business",
      cease_by: deadlineOf(change.recorded?.receivedAt ?? now),
      receipt_url: entities === null ? receiptUrlOf(config.baseUrl, certId) : entityReceiptUrlOf(config.baseUrl, certId, entities.number),
      contact,
      mailing_address: mailingAddress,
    },
    to,
    language,
    now,
    certId,
    ...(onlyIf !== undefined && { onlyIf }),
  });
};

/**
 * Keeps one batch short: it is one transaction, and each withdrawal in it has a receipt to sign. A withdrawal is at most two
 * statements, its row and its event; the audit entries share one insert, and so do the statements for the ledger. Twenty are 42;
 * with mails to ten owners, one to the person and two rows of their own, 55.
 */
export const maxPerBatch = 20;

/** How, by whom and when is the same for every certificate of the batch. */
export const commitWithdrawals = async (
  services: Runtime & Stores & Proofs,
  db: Database,
  certificates: readonly WithdrawableCertificate[],
  change: Omit<Parameters<typeof withdraw>[0], "certificate">,
  /** Rows that belong to the same change. */
  { before = [], after = [] }: { readonly before?: readonly Statement[]; readonly after?: readonly Statement[] },
): Promise<void> => {
  const { vault, signer, clock } = services;
  const prepared = await Promise.all(
    certificates.map(async (certificate) => {
      const { withdrawal, fact } = withdraw({ certificate, ...change });
      const text = withdrawalReceiptText(certificate, withdrawal);
      const signature = { kid: signer.kid, alg: "Ed25519" as const, value: await signer.sign(text) };
      const rows = await insertWithdrawal(db, vault, certificate, withdrawal, { text, signature });
      return { businessId: certificate.businessId, withdrawal, fact, rows };
    }),
  );
  const [first] = prepared;
  if (first === undefined) throw new Error("withdrawals: nothing to withdraw");
  const data = { cert_ids: certificates.map(({ id }) => id), cease_by: first.withdrawal.ceaseBy };
  const mails = await ownerMails(db, vault, first.businessId, { template: "withdrawal_owner_notice", data, now: clock() });
  await commitQuietly(
    db,
    services,
    [...before, ...prepared.flatMap(({ rows }) => rows), ...after, ...mails],
    prepared.map(({ fact }) => fact),
  );
};

/** After the answer the event, the mail, the audit entry and the ledger's statement go on their way. */
export const afterWithdrawal = (services: Schedules, { businessId, environment }: WithdrawableCertificate): void => {
  services.scheduleEvents(businessId, environment);
  services.scheduleMail();
  services.scheduleFollowUp();
};

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
): Promise<Result<Withdrawn, "already_revoked">> => {
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
    const others = work === null ? [] : (await activeWithAddress(db, work, maxPerBatch + 1)).filter(({ id }) => id !== certId);
    const isMore = others.length > maxPerBatch - 1;
    const { withdrawnAt, ceaseBy, method, recorded } = withdraw({ certificate, change, scope, now }).withdrawal;
    const receivedAt = recorded?.receivedAt ?? null;
    const withdrawal = { withdrawnAt, ceaseBy, method, scope, receivedAt, acknowledgedAt: null };
    const withdrawn: Withdrawn = { certId, withdrawnAt, ceaseBy, fromEntities: [], withdrawal };
    const rest = work !== null && isMore ? [insertWithdrawalWork(db, work)] : [];
    try {
      await commitWithdrawals(
        services,
        db,
        [certificate, ...others.slice(0, maxPerBatch - 1)],
        { change, scope, now },
        {
          before: await confirmationMail(services, db, record, { change, language, scope, entities: null, now }),
          after: [...((await act.more?.(withdrawn)) ?? []), ...rest],
        },
      );
      if (isMore) services.scheduleRelay();
      afterWithdrawal(services, certificate);
      return ok(withdrawn);
    } catch (error) {
      if (!isWithdrawnAlready(error)) throw error;
      const again = await withdrawableById(db, certId);
      if (again?.certificate.status === "revoked") return refuse("already_revoked");
    }
  }
  throw new StorageFault("outage"); // withdrawals kept outdating each other: nothing was written
};

const changeOf = async ({ vault }: Stores, db: Database, work: WithdrawalWork): Promise<WithdrawalChange> => {
  if (work.method !== "business_recorded") return byPerson(work.method);
  const recorded = await recordedOf(db, vault, work);
  if (recorded === null || work.apiKeyId === null) throw new Error("withdrawals: work that nobody recorded");
  return byBusiness(recorded, work.apiKeyId);
};

/** One batch of what did not fit into the first. The work is finished with the last certificate, in the same batch. */
export const continueWithdrawals = async (platform: Runtime & Stores & Proofs, db: Database, work: WithdrawalWork): Promise<void> => {
  const { certId, issuedUntil } = work;
  const certificates = await activeWithAddress(db, work, maxPerBatch);
  const isLast = certificates.length < maxPerBatch;
  const next = isLast ? finishWithdrawalWork(db, certId) : continueWithdrawalWork(db, certId, platform.clock());
  if (certificates.length === 0) {
    await next.run();
    return;
  }
  // The moment of the act, not of this batch: that is when it was taken back.
  const change = { change: await changeOf(platform, db, work), scope: "business", now: issuedUntil } as const;
  await commitWithdrawals(platform, db, certificates, change, { after: [next] });
};
