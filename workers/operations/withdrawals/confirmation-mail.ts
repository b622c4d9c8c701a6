// The email that confirms a withdrawal to the person.
import { getCeaseDeadline } from "../../../core/cease-deadline.ts";
import { buildReceiptUrl, buildEntityReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { openSubjectEmail } from "../../../storage/certificates.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { hasFewUnverifiedWithdrawals, type WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { WithdrawalRequest } from "./withdrawal-request.ts";

/**
 * The maximum number of emails per business, address and day that confirm withdrawals made without verifying the address. A stranger can
 * submit forms with someone else's address and withdraw those certificates; without a limit, that would flood the mailbox. Withdrawals by
 * code or emailed link are not limited, because they verify the address.
 */
const maxUnverifiedConfirmations = 3;

/**
 * Prepares the email that states what was withdrawn, when contact must cease and whom to contact. Returns no rows if the certificate has no
 * email address. The rows must come before the withdrawal's rows in the batch, because the daily limit counts only earlier withdrawals.
 */
export const prepareConfirmationMail = async (
  { vault, config }: ReadDependencies,
  db: Database,
  { certificate, subjectSealed, emailIndex, contact, mailingAddress }: WithdrawableRecord,
  confirmed: Pick<WithdrawalRequest, "change" | "language" | "addressIndex"> & {
    readonly scope: WithdrawalScope;
    /** The withdrawal for individual recipients; null for the whole certificate. */
    readonly entities: { readonly number: number; readonly names: readonly string[] } | null;
    readonly now: Instant;
  },
): Promise<readonly Statement[]> => {
  const { change, language, scope, entities, now } = confirmed;
  const { id: certId, businessId, environment, businessName } = certificate;
  const index = confirmed.addressIndex ?? emailIndex;
  const to = index === null ? null : await openSubjectEmail(vault, certId, businessId, subjectSealed, index);
  if (to === null || index === null) return [];
  const withdrawnAt = change.recorded?.receivedAt ?? now;
  const onlyIf =
    change.method === "email_code"
      ? undefined
      : hasFewUnverifiedWithdrawals({ businessId, environment, addressIndexes: [index] }, now - dayMs, maxUnverifiedConfirmations);
  return insertMail(db, vault, {
    template: "withdrawal_confirmation",
    data: {
      certId,
      businessName,
      by: change.method === "business_recorded" ? "business" : "person",
      entities: entities?.names ?? null,
      coversAllConsents: scope === "business",
      withdrawnAt,
      ceaseBy: getCeaseDeadline(withdrawnAt),
      receiptUrl:
        entities === null ? buildReceiptUrl(config.baseUrl, certId) : buildEntityReceiptUrl(config.baseUrl, certId, entities.number),
      contact,
      mailingAddress,
    },
    to,
    language,
    now,
    certId,
    ...(onlyIf !== undefined && { onlyIf }),
  });
};
