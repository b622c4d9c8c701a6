import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { authorizeByCode } from "../../../core/withdrawals/authorization.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { verifyEmailCode } from "../access/email-codes.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import type { LocatedRecord } from "./locate-record.ts";
import { locateTargetRecord, withdrawVerified, type PersonWithdrawal, type PersonWithdrawalRefusal } from "./person-withdrawal.ts";
import type { WithdrawalResult } from "./withdraw-certificate.ts";
import { identifyCodeRequester, bindWithdrawalCode } from "./withdrawal-code.ts";

export interface WithdrawalByCode extends PersonWithdrawal {
  readonly email: string;
  readonly code: string;
  /** The secret of the browser that answers; null when it never asked for a code. */
  readonly context: string | null;
}

/**
 * A try is spent before anything is compared; address and code are judged together. Refuses `opt_out_failed` for everything
 * that is not the right pair, and `already_revoked` for the right pair only.
 */
export const verifyWithdrawalCode = async (
  services: ReadDependencies,
  answer: WithdrawalByCode,
): Promise<Result<{ readonly located: LocatedRecord; readonly codeId: string }, PersonWithdrawalRefusal>> => {
  const found = await locateTargetRecord(services, answer);
  if (!found.ok) return found;
  const { db, record } = found.value;
  const { addressIndex, asker } = await identifyCodeRequester(services, record, answer.email, answer.context);
  const { withdrawal: limits } = emailCodeLimits;
  const codeId = await verifyEmailCode(services, db, asker, { limits, binding: bindWithdrawalCode, code: answer.code });
  const judged = authorizeByCode({
    addressOnCertificate: record.emailIndex,
    addressGiven: addressIndex,
    isCode: codeId !== null,
    status: record.certificate.status,
  });
  if (!judged.ok) return judged;
  return codeId === null ? refuse("opt_out_failed") : ok({ located: found.value, codeId });
};

/** Refuses as `judgeCode`, and `invalid_request` for somebody who is no recipient. */
export const withdrawByCode = async (
  services: WithdrawalWriteDependencies,
  answer: WithdrawalByCode,
  keep?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, PersonWithdrawalRefusal>> => {
  const judged = await verifyWithdrawalCode(services, answer);
  return judged.ok ? withdrawVerified(services, judged.value.located, "email_code", answer, keep) : judged;
};
