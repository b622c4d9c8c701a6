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
  /** False: the person is asked first how far it is meant. */
  readonly isWithdrawn: boolean;
  /** Of the link in the same mail: it proves the address from here on, in the place of the code. */
  readonly token: string;
}

/**
 * The answer on the page. Where other certificates of the business name the address, nothing is withdrawn yet: the code is spent,
 * once, on a proof with which the person chooses. Refuses as `confirmWithdrawal`; of two that answer the same code at once, one.
 */
export const submitWithdrawalCode = async (
  services: WithdrawalWriteDependencies,
  answer: WithdrawalByCode,
): Promise<Result<CodeSubmissionResult, PersonWithdrawalRefusal>> => {
  const judged = await verifyWithdrawalCode(services, answer);
  if (!judged.ok) return judged;
  const { located, codeId } = judged.value;
  const token = await services.vault.linkToken(bindWithdrawalCode(codeId));
  if (answer.entities === null && (await loadOtherCertificates(located)).count > 0) {
    const { db } = located;
    const [spent] = await batch(db, [
      markCodeUsed(db, { codeId, sessionHash: sha256Hex(token), now: services.clock() }),
      ...prepareFailureReset(located),
    ]);
    return spent.meta.changes === 1 ? ok({ isWithdrawn: false, token }) : refuse("opt_out_failed");
  }
  const withdrawn = await withdrawVerified(services, located, "email_code", answer);
  return withdrawn.ok ? ok({ isWithdrawn: true, token }) : withdrawn;
};
