// What every withdrawal by the person shares, by code or by link: the certificate, from where the person may act, and the change
// itself. The state of the business's account is never asked: withdrawing is the person's.
import { verifyOrigin } from "../../../core/access/origins.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, type Result } from "../../../core/result.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entities.ts";
import { byPerson, type PersonMethod, type WithdrawableCertificate, type WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { forgetFailures, type ProvedAddress } from "../../../storage/mailed-codes.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import type { Binding } from "../access/mailed-codes.ts";
import { withdrawCertificate, type LocatedRecord, type Withdrawing } from "./withdraw-certificate.ts";
import { withdrawFromEntities } from "./withdraw-entities.ts";

export interface Withdrawn {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Of a withdrawal from single recipients, which leaves the certificate active. */
  readonly fromEntities?: readonly WithdrawnEntity[];
}

type Kept = Keeping<Withdrawn> | undefined;

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

/** The row of a right answer: failures in a row start anew. */
export const rightAnswer =
  ({ db, record: { certificate, emailIndex } }: LocatedRecord) =>
  async () =>
    emailIndex === null ? [] : [forgetFailures(db, provedAddress(certificate, emailIndex))];

const withdrawnOf = (certId: CertId, { withdrawnAt, ceaseBy, fromEntities }: Omit<Withdrawing, "number">): Withdrawn => ({
  certId,
  withdrawnAt,
  ceaseBy,
  ...(fromEntities.length > 0 && { fromEntities }),
});

/** The rows of a right answer, and of the answer that is given where it is to be kept. */
const rowsOfAnswer = (located: LocatedRecord, keep: Kept) => async (withdrawing: Withdrawing) => [
  ...(await rightAnswer(located)()),
  ...((await keep?.(withdrawnOf(located.record.certificate.id, withdrawing))) ?? []),
];

/** The whole certificate, and with `business` the others that name the address. */
export const commitByPerson = async (
  services: Runtime & Stores & Proofs & Schedules,
  located: LocatedRecord,
  act: { readonly method: PersonMethod; readonly scope: WithdrawalScope; readonly language: MailLanguage },
  keep: Kept,
): Promise<Result<Withdrawn, "already_revoked">> => {
  const { certificate, emailIndex } = located.record;
  const withdrawn = await withdrawCertificate(services, located, {
    change: byPerson(act.method),
    scope: act.scope,
    address: emailIndex === null ? null : { kind: "email", index: emailIndex },
    language: act.language,
    more: rowsOfAnswer(located, keep),
  });
  if (!withdrawn.ok) return withdrawn;
  return ok(withdrawnOf(certificate.id, { ...withdrawn.value, fromEntities: [] }));
};

/** Only these recipients. Refuses as `withdrawFromEntities`. */
export const commitEntitiesByPerson = async (
  services: Runtime & Stores & Proofs & Schedules,
  located: LocatedRecord,
  act: { readonly method: PersonMethod; readonly entities: readonly string[]; readonly language: MailLanguage },
  keep: Kept,
): Promise<Result<Withdrawn, "invalid_request" | "already_revoked">> => {
  const { method, entities, language } = act;
  const withdrawn = await withdrawFromEntities(services, located, {
    change: byPerson(method),
    entities,
    language,
    more: rowsOfAnswer(located, keep),
  });
  if (!withdrawn.ok) return withdrawn;
  return ok(withdrawnOf(located.record.certificate.id, withdrawn.value));
};
