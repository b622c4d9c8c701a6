// Implements POST /v1/certs/{id}/opt-out/confirm. Withdraws consent with an emailed code.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { authorizeByCode } from "../../../core/withdrawals/authorization.ts";
import { batch, type Database } from "../../../storage/database.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { verifyEmailCode } from "../access/email-codes.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { findInShards } from "./find-in-shards.ts";
import { locateTargetRecord, withdrawVerified, type PersonWithdrawal, type PersonWithdrawalRefusal } from "./person-withdrawal.ts";
import type { WithdrawalResult } from "./withdrawal-request.ts";
import { identifyCodeRequester, identifyInOtherShard, bindWithdrawalCode, prepareFailureReset } from "./withdrawal-code.ts";
import type { IntakeDependencies } from "../intake/dependencies.ts";

export interface WithdrawalByCode extends PersonWithdrawal {
  readonly email: string;
  readonly code: string;
  /** The secret in the submitting browser's cookie; null if that browser has not requested a code. */
  readonly context: string | null;
}

/** A correct code, and the shard of the certificate for which it was requested. */
export interface VerifiedCode {
  readonly id: string;
  readonly db: Database;
}

/**
 * Verifies the email address and code as a pair. Counts an attempt before it compares anything. Returns the errors of `locateTargetRecord`
 * first, then `opt_out_failed` for every wrong pair. Returns `already_revoked` only for the correct pair, so that guessing reveals nothing.
 */
export const verifyWithdrawalCode = async (
  services: IntakeDependencies,
  request: WithdrawalByCode,
): Promise<
  Result<{ readonly located: LocatedRecord; readonly code: VerifiedCode; readonly addressIndex: AddressIndex }, PersonWithdrawalRefusal>
> => {
  const found = await locateTargetRecord(services, request);
  if (!found.ok) return found;
  const { db: ownDb, record } = found.value;
  const { addressIndex, isOnCertificate, requester } = await identifyCodeRequester(services, record, request.email, request.context);
  const { withdrawal: limits } = emailCodeLimits;
  const code = await findInShards(services, found.value, async (db): Promise<VerifiedCode | null> => {
    const countedFor = db === ownDb ? requester : await identifyInOtherShard(services, db, requester);
    const id = await verifyEmailCode(services, db, countedFor, { limits, binding: bindWithdrawalCode, code: request.code });
    return id === null ? null : { id, db };
  });
  const authorized = authorizeByCode({
    isOnCertificate,
    isCode: code !== null,
    status: record.certificate.status,
  });
  if (!authorized.ok) return authorized;
  if (code === null) return refuse("opt_out_failed");
  // The withdrawal resets the count of wrong codes only in the certificate's shard, so also reset it in the code's shard.
  if (code.db !== ownDb) await batch(code.db, prepareFailureReset({ ...found.value, db: code.db }, addressIndex));
  return ok({ located: found.value, code, addressIndex });
};

/** Withdraws consent with a code (SPEC Withdrawal). Returns the same errors as `verifyWithdrawalCode` and `withdrawVerified`. */
export const withdrawByCode = async (
  services: WithdrawalWriteDependencies,
  request: WithdrawalByCode,
  saveIdempotentResponse?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, PersonWithdrawalRefusal>> => {
  const verified = await verifyWithdrawalCode(services, request);
  if (!verified.ok) return verified;
  const { located, addressIndex } = verified.value;
  return withdrawVerified(services, located, { method: "email_code", addressIndex }, request, saveIdempotentResponse);
};
