// The parts that all withdrawals by a person share, regardless of how the person was verified.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { verifyOrigin, getOriginRules } from "../../../core/access/origins.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { resolveNamedEntities } from "../../../core/withdrawals/entity-withdrawal.ts";
import { getWithdrawalTime, sourceFromPerson, type WithdrawalScope, type PersonMethod } from "../../../core/withdrawals/withdrawal.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import {
  finishAccountWithdrawal,
  insertAccountWithdrawal,
  markWithdrawalSpread,
  type AccountWithdrawal,
} from "../../../storage/person-certificates.ts";
import { batch } from "../../../storage/database.ts";
import { runIsolated } from "../../log.ts";
import { endNamedShares } from "./end-named-shares.ts";
import type { Runtime } from "../dependencies.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { locateRecord, type LocatedRecord } from "./locate-record.ts";
import { withdrawCertificate } from "./withdraw-certificate.ts";
import type { WithdrawalRequest, WithdrawalResult } from "./withdrawal-request.ts";
import { withdrawFromEntities } from "./withdraw-from-entities.ts";
import { prepareFailureReset } from "./withdrawal-code.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";

export interface PersonWithdrawal {
  readonly certId: CertId;
  readonly scope: WithdrawalScope;
  /** The recipients to withdraw consent for. If null, `scope` decides. */
  readonly entities: readonly string[] | null;
  /** The `Origin` header; null for programs, which do not send one. */
  readonly origin: string | null;
  readonly language: Language;
}

export type PersonWithdrawalRefusal = "cert_not_found" | "forbidden" | "opt_out_failed" | "already_revoked" | "invalid_request";

/**
 * Returns true if a third-party site (neither ours nor the business's) sent the request. Such a site has no reason to submit codes. This is
 * only an extra check: the code or token is what proves that the person sent the request.
 */
const isForeignOrigin = (services: Runtime, record: WithdrawableRecord, origin: string | null): boolean => {
  const { baseUrl, verifyUrl, appUrl } = services.config;
  if (origin === null || [baseUrl, verifyUrl, appUrl].some((url) => new URL(url).origin === origin)) return false;
  return !verifyOrigin(origin, record.domains, getOriginRules(services.config, record.certificate)).ok;
};

/**
 * Finds the certificate. Returns `cert_not_found` for an unknown ID, `forbidden` for a third-party site, and `invalid_request` for a name
 * that is not a recipient. Callers run this before they count an attempt. The errors reveal nothing, because a certificate's recipients are
 * public.
 */
export const locateTargetRecord = async (
  services: IntakeDependencies,
  { certId, origin, entities }: PersonWithdrawal,
): Promise<Result<LocatedRecord, PersonWithdrawalRefusal>> => {
  const located = await locateRecord(services, certId);
  if (located === null) return refuse("cert_not_found");
  if (isForeignOrigin(services, located.record, origin))
    return refuse("forbidden", "The Origin of this request must be this service or on a verified domain of the business.");
  const named = entities === null ? ok([]) : resolveNamedEntities(located.record, entities);
  return named.ok ? ok(located) : named;
};

/**
 * Withdraws consent after the person was verified. If recipients are named, withdraws consent only for them. Otherwise, withdraws the whole
 * certificate. Scope `business` also withdraws the business's other certificates with the email address, and ends live shares that contain
 * the address, even those of other people. Can return `already_revoked` and `invalid_request`.
 */
export const withdrawVerified = async (
  services: WithdrawalWriteDependencies,
  located: LocatedRecord,
  /** The blind index of the verified address. For a manage link, the first address on the certificate, or null if there is none. */
  { method, addressIndex }: { readonly method: PersonMethod; readonly addressIndex: AddressIndex | null },
  { scope, entities, language }: PersonWithdrawal,
  saveIdempotentResponse?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, PersonWithdrawalRefusal>> => {
  const change = sourceFromPerson(method);
  // A manage link does not verify the address, because anyone who submits a form in the person's name gets one.
  const extraStatements = method === "manage_link" || addressIndex === null ? [] : prepareFailureReset(located, addressIndex);
  const request: WithdrawalRequest = { change, language, addressIndex, extraStatements, saveIdempotentResponse };
  if (entities !== null) return withdrawFromEntities(services, located, { ...request, entities });
  const addressIndexes = addressIndex === null ? [] : [addressIndex];
  const { certificate } = located.record;
  const { businessId, environment } = certificate;
  if (scope !== "business" || addressIndex === null || environment !== "live")
    return withdrawCertificate(services, located, { ...request, scope, addressIndexes });
  const { hasOtherShards: forAllShards } = located.record;
  const withdrawnAt = getWithdrawalTime(certificate, services.clock());
  const work: AccountWithdrawal = { addressIndex, consumerId: null, businessId, withdrawnAt, forAllShards };
  const statements = [...extraStatements, insertAccountWithdrawal(located.db, work)];
  const withdrawn = await withdrawCertificate(services, located, { ...request, extraStatements: statements, scope, addressIndexes });
  if (!withdrawn.ok) return withdrawn;
  // If ending the shares fails or does not finish, the job that runs every minute continues the work.
  await runIsolated(services, "shares of a withdrawal", async () => {
    const accountDb = services.shards.forId(businessId); // the business's shard contains all shares with the business
    if (forAllShards) await insertAccountWithdrawal(accountDb, { ...work, forAllShards: false }).run();
    const { isDone } = await endNamedShares(services, accountDb, work);
    if (!isDone) return;
    await finishAccountWithdrawal(accountDb, work).run();
    // The shares have ended, so delete the outbox row in the certificate's shard. The batch that withdrew the certificate wrote another
    // row, which covers the certificates in other shards.
    if (forAllShards) await batch(located.db, [markWithdrawalSpread(located.db, work), finishAccountWithdrawal(located.db, work)]);
  });
  return withdrawn;
};
