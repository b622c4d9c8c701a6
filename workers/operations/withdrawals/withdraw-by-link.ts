import { sha256Hex } from "../../../core/hash.ts";
import type { Result } from "../../../core/result.ts";
import { authorizeByToken, isManageLinkValid } from "../../../core/withdrawals/authorization.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { listMailedLinkHashes } from "./list-mailed-link-hashes.ts";
import { locateTargetRecord, withdrawVerified, type PersonWithdrawal, type PersonWithdrawalRefusal } from "./person-withdrawal.ts";
import type { WithdrawalResult } from "./withdraw-certificate.ts";

export interface WithdrawalByLink extends PersonWithdrawal {
  readonly token: string;
}

/**
 * The link from the receipt of the form, or from the mail with a code: its token is the proof. Refuses as `confirmWithdrawal`, and
 * `invalid_request` where the link from the 201 is to reach further than its certificate.
 */
export const withdrawByLink = async (
  services: WithdrawalWriteDependencies,
  link: WithdrawalByLink,
  keep?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, PersonWithdrawalRefusal>> => {
  const found = await locateTargetRecord(services, link);
  if (!found.ok) return found;
  const { record } = found.value;
  const now = services.clock();
  const judged = authorizeByToken({
    expectedHash: record.manageTokenHash,
    mailedHashes: await listMailedLinkHashes(services, found.value, now),
    givenHash: sha256Hex(link.token),
    isInTime: isManageLinkValid(record.certificate.issuedAt, now),
    scope: link.scope,
    status: record.certificate.status,
  });
  return judged.ok ? withdrawVerified(services, found.value, judged.value, link, keep) : judged;
};
