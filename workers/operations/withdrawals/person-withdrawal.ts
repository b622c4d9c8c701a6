import { verifyOrigin, getOriginRules } from "../../../core/access/origins.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { resolveNamedEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import { sourceFromPerson, type WithdrawalScope, type PersonMethod } from "../../../core/withdrawals/withdrawal.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { ReadDependencies, Runtime } from "../dependencies.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { locateRecord, type LocatedRecord } from "./locate-record.ts";
import { withdrawCertificate, type WithdrawalResult } from "./withdraw-certificate.ts";
import { withdrawFromEntities } from "./withdraw-from-entities.ts";
import { prepareFailureReset } from "./withdrawal-code.ts";

/** What the person wants, however they prove to be it. */
export interface PersonWithdrawal {
  readonly certId: CertId;
  readonly scope: WithdrawalScope;
  /** Only these recipients; null: the scope says from what. */
  readonly entities: readonly string[] | null;
  /** The site the browser names, where it names one. */
  readonly origin: string | null;
  /** Of the mail that confirms it. */
  readonly language: MailLanguage;
}

export type PersonWithdrawalRefusal = "cert_not_found" | "forbidden" | "opt_out_failed" | "already_revoked" | "invalid_request";

/**
 * A browser says which site sent it: ours, or one of the business's. Other sites have no reason to answer a code; programs
 * name no site. The code is the proof either way.
 */
const isForeignOrigin = (services: Runtime, record: WithdrawableRecord, origin: string | null): boolean => {
  const { baseUrl, verifyUrl, appUrl } = services.config;
  if (origin === null || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).origin === origin)) return false;
  return !verifyOrigin(origin, record.domains, getOriginRules(services.config, record.certificate)).ok;
};

/** The certificate, where the act can be about it: its names are public, so no try is spent on wrong ones. */
export const locateTargetRecord = async (
  services: ReadDependencies,
  { certId, origin, entities }: PersonWithdrawal,
): Promise<Result<LocatedRecord, PersonWithdrawalRefusal>> => {
  const located = await locateRecord(services, certId);
  if (located === null) return refuse("cert_not_found");
  if (isForeignOrigin(services, located.record, origin)) return refuse("forbidden");
  const named = entities === null ? ok([]) : resolveNamedEntities(located.record, entities);
  return named.ok ? ok(located) : named;
};

/** What was proved is done: from the recipients that are named, else the whole certificate, and with `business` the others that name the address. */
export const withdrawVerified = (
  services: WithdrawalWriteDependencies,
  located: LocatedRecord,
  method: PersonMethod,
  { scope, entities, language }: PersonWithdrawal,
  keep?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, PersonWithdrawalRefusal>> => {
  const { emailIndex } = located.record;
  const more: SaveIdempotentResponse<WithdrawalResult> = async (withdrawn) => [
    ...prepareFailureReset(located),
    ...((await keep?.(withdrawn)) ?? []),
  ];
  const act = { change: sourceFromPerson(method), language, more };
  if (entities !== null) return withdrawFromEntities(services, located, { ...act, entities });
  const address = emailIndex === null ? null : ({ kind: "email", index: emailIndex } as const);
  return withdrawCertificate(services, located, { ...act, scope, address });
};
