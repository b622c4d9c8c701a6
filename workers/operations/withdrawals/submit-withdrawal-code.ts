// Handles the code form on the withdrawal page.
import { sha256Hex } from "../../../core/hash.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { batch } from "../../../storage/database.ts";
import { markCodeUsed } from "../../../storage/email-codes.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { loadOtherCertificates } from "./load-other-certificates.ts";
import { withdrawVerified, type PersonWithdrawalRefusal } from "./person-withdrawal.ts";
import { verifyWithdrawalCode, type WithdrawalByCode } from "./withdraw-by-code.ts";
import { bindWithdrawalCode, prepareFailureReset } from "./withdrawal-code.ts";

export interface CodeSubmissionResult {
  /** False if the person must first choose between this certificate and all certificates with the business. */
  readonly isWithdrawn: boolean;
  /** The token of the link in the same email. In the next steps, it replaces the code as proof of control of the email address. */
  readonly token: string;
}

/**
 * Withdraws the certificate or, if recipients are named, consent for these recipients. If no recipients are named and the business has
 * other certificates with the address, withdraws nothing yet. The code is used up, and the returned token authorizes the person's choice on
 * the next page. Returns the same errors as `withdrawByCode`. If a code is submitted twice concurrently, one submission is refused.
 */
export const submitWithdrawalCode = async (
  services: WithdrawalWriteDependencies,
  request: WithdrawalByCode,
): Promise<Result<CodeSubmissionResult, PersonWithdrawalRefusal>> => {
  const verified = await verifyWithdrawalCode(services, request);
  if (!verified.ok) return verified;
  const { located, code, addressIndex } = verified.value;
  const token = await services.vault.linkToken(bindWithdrawalCode(code.id));
  if (request.entities === null && (await loadOtherCertificates(services, located, addressIndex)).count > 0) {
    const [spent] = await batch(code.db, [
      markCodeUsed(code.db, { codeId: code.id, sessionHash: sha256Hex(token), now: services.clock() }),
      ...prepareFailureReset({ ...located, db: code.db }, addressIndex),
    ]);
    return spent.meta.changes === 1 ? ok({ isWithdrawn: false, token }) : refuse("opt_out_failed");
  }
  const withdrawn = await withdrawVerified(services, located, { method: "email_code", addressIndex }, request);
  return withdrawn.ok ? ok({ isWithdrawn: true, token }) : withdrawn;
};
