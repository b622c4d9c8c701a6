// The input and result types that all kinds of withdrawals share.
import type { AddressIndex } from "../../../core/access/address-index.ts";
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { WithdrawalSource } from "../../../core/withdrawals/withdrawal.ts";
import type { Statement } from "../../../storage/database.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";

export interface WithdrawalResult {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** The recipients that consent was withdrawn for. Empty if the whole certificate was withdrawn. */
  readonly fromEntities: readonly WithdrawnEntity[];
  /** The withdrawal of the whole certificate; null if the certificate stays active for other recipients. */
  readonly withdrawal: PublishedWithdrawal | null;
}

export interface WithdrawalRequest {
  readonly change: WithdrawalSource;
  /** The language of the confirmation email. */
  readonly language: Language;
  /** The blind index of the email address that gets the confirmation. The default is the first address on the certificate. */
  readonly addressIndex?: AddressIndex | null;
  readonly extraStatements?: readonly Statement[];
  readonly saveIdempotentResponse?: SaveIdempotentResponse<WithdrawalResult> | undefined;
}
