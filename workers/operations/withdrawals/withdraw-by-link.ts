// Implements POST /v1/certs/{id}/opt-out/manage. Withdraws consent with the manage link from POST /v1/consent, or with the link that was
// emailed together with a code.
import { sha256Hex } from "../../../core/hash.ts";
import type { Result } from "../../../core/result.ts";
import { authorizeByToken, isManageLinkValid } from "../../../core/withdrawals/authorization.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { findLink } from "./find-link.ts";
import { locateTargetRecord, withdrawVerified, type PersonWithdrawal, type PersonWithdrawalRefusal } from "./person-withdrawal.ts";
import type { WithdrawalResult } from "./withdrawal-request.ts";

export interface WithdrawalByLink extends PersonWithdrawal {
  readonly token: string;
}

/**
 * Withdraws consent with a link's token (SPEC Withdrawal). Returns the first of these errors that applies:
 * - the errors of `locateTargetRecord`
 * - `opt_out_failed` for a wrong or expired token
 * - `invalid_request` if a manage link is used with scope `business`
 * - `already_revoked`
 */
export const withdrawByLink = async (
  services: WithdrawalWriteDependencies,
  link: WithdrawalByLink,
  saveIdempotentResponse?: SaveIdempotentResponse<WithdrawalResult>,
): Promise<Result<WithdrawalResult, PersonWithdrawalRefusal>> => {
  const found = await locateTargetRecord(services, link);
  if (!found.ok) return found;
  const { record } = found.value;
  const { certificate } = record;
  const { manageHashes, mailed } = await findLink(services, found.value, link.token);
  const authorized = authorizeByToken({
    expectedHashes: manageHashes,
    mailedHashes: mailed === null ? [] : [mailed.tokenHash],
    givenHash: sha256Hex(link.token),
    isInTime: isManageLinkValid(certificate.issuedAt, services.clock()),
    scope: link.scope,
    status: certificate.status,
  });
  if (!authorized.ok) return authorized;
  const addressIndex = mailed?.addressIndex ?? record.emailIndexes[0] ?? null;
  return withdrawVerified(services, found.value, { method: authorized.value, addressIndex }, link, saveIdempotentResponse);
};
