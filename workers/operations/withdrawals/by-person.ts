// What every withdrawal by the person shares, by code or by link: the certificate, from where the person may act, and the change
// itself. The state of the business's account is never asked: withdrawing is the person's.
import { verifyOrigin } from "../../../core/access/origins.ts";
import type { CertId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import type { WithdrawableCertificate, WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import { StorageFault } from "../../../storage/faults.ts";
import { forgetFailures, type ProvedAddress } from "../../../storage/mailed-codes.ts";
import { insertWithdrawalWork, type WithdrawalWork } from "../../../storage/outboxes/withdrawals.ts";
import { activeWithAddress, isWithdrawnAlready, withdrawableById, type WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Binding } from "../access/mailed-codes.ts";
import { afterWithdrawal, commitWithdrawals, maxPerBatch } from "./commit-withdrawals.ts";

export interface Withdrawn {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Of a withdrawal from single recipients, which leaves the certificate active. */
  readonly fromEntities?: readonly WithdrawnEntity[];
}

export type PersonRefusal = "cert_not_found" | "forbidden" | "opt_out_failed" | "already_revoked" | "invalid_request";

/** Codes and links are bound to their row by it. */
export const codeBinding: Binding = (id) => `withdrawal ${id}`;

/** What a mailed code or link opens: every certificate of one business and environment that names the address. */
export const provedAddress = ({ id: certId, businessId, environment }: WithdrawableCertificate, addressIndex: string): ProvedAddress => ({
  purpose: "withdrawal",
  topic: `${businessId} ${environment}`,
  addressIndex,
  certId,
});

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

/**
 * A browser says which site sent it: ours, or one of the business's. Other sites have no reason to answer a code; programs
 * name no site. The code is the proof either way.
 */
export const isForeign = (services: Runtime, record: WithdrawableRecord, origin: string | null): boolean => {
  const { baseUrl, verifyUrl, appUrl, environment } = services.config;
  if (origin === null || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).origin === origin)) return false;
  const rules = { allowsLocalHttp: environment === "development", allowsSandboxLocalhost: record.certificate.environment === "sandbox" };
  return !verifyOrigin(origin, record.domains, rules).ok;
};

const maxAttempts = 3; // another withdrawal of the same person can outdate one reading; more is not one person

/** Withdraws one certificate, and with scope `business` as many more as fit into the batch; the rest follows from an outbox. */
export const commitByPerson = async (
  services: Runtime & Stores & Proofs & Schedules,
  { db, record: { certificate, emailIndex } }: LocatedRecord,
  { method, scope }: { readonly method: "email_code" | "manage_link"; readonly scope: WithdrawalScope },
): Promise<Result<Withdrawn, "already_revoked">> => {
  const { id: certId, businessId, environment } = certificate;
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const now = services.clock();
    const forgotten = emailIndex === null ? [] : [forgetFailures(db, provedAddress(certificate, emailIndex))];
    const work: WithdrawalWork | null =
      scope === "business" && emailIndex !== null
        ? { certId, businessId, environment, addressIndex: emailIndex, issuedUntil: now, method }
        : null;
    const others = work === null ? [] : (await activeWithAddress(db, work, maxPerBatch + 1)).filter(({ id }) => id !== certId);
    const isMore = others.length > maxPerBatch - 1;
    const rest = work !== null && isMore ? [insertWithdrawalWork(db, work)] : [];
    try {
      const { withdrawnAt, ceaseBy } = await commitWithdrawals(
        services,
        db,
        [certificate, ...others.slice(0, maxPerBatch - 1)],
        { method, scope, recorded: null, actor: { kind: "subject", provenBy: method }, now },
        [...forgotten, ...rest],
      );
      if (isMore) services.scheduleRelay();
      afterWithdrawal(services, certificate);
      return ok({ certId, withdrawnAt, ceaseBy });
    } catch (error) {
      if (!isWithdrawnAlready(error)) throw error;
      const again = await withdrawableById(db, certId);
      if (again?.certificate.status === "revoked") return refuse("already_revoked");
    }
  }
  throw new StorageFault("outage"); // withdrawals kept outdating each other: nothing was written
};
