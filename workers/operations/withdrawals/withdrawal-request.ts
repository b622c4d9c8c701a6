// The input and result types of the operations that commit withdrawals, which all withdrawal methods call.
import type { PublishedWithdrawal } from "../../../core/certificates/published-certificate.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawnEntity } from "../../../core/withdrawals/entity-withdrawal.ts";
import type { WithdrawalSource } from "../../../core/withdrawals/withdrawal.ts";
import type { Statement } from "../../../storage/database.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";

export interface WithdrawalResult {
  readonly certId: CertId;
  readonly withdrawnAt: Instant;
  readonly ceaseBy: Instant;
  /** Recipients for whom consent was withdrawn. Empty if the whole certificate was withdrawn. */
  readonly fromEntities: readonly WithdrawnEntity[];
  /** The withdrawal of the whole certificate; null while it stays active for other recipients. */
  readonly withdrawal: PublishedWithdrawal | null;
}

export interface WithdrawalRequest {
  readonly change: WithdrawalSource;
  /** Language of the confirmation email. */
  readonly language: MailLanguage;
  /** Blind index of the email address that the confirmation goes to. By default the first one on the certificate. */
  readonly addressIndex?: string | null;
  /** Additional rows for the withdrawal's transaction. */
  readonly extraRows?: readonly Statement[];
  readonly saveIdempotentResponse?: SaveIdempotentResponse<WithdrawalResult> | undefined;
}
