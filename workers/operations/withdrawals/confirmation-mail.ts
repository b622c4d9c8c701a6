import { getCeaseDeadline as deadlineOf } from "../../../core/cease-deadline.ts";
import { buildReceiptUrl, buildEntityReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { openSubjectEmail } from "../../../storage/certificates.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { hasFewUnverifiedWithdrawals, type WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { WithdrawalRequest } from "./withdraw-certificate.ts";

/**
 * A code or a mailed link is the person's own doing. Any other withdrawal can follow from a form that a stranger filled in with this
 * address, so at most three a day are confirmed by one business to one address.
 */
const maxUnverifiedConfirmations = 3;

/**
 * The mail that tells the person what was withdrawn, until when contact must end, and whom to turn to. Its row stands in the batch before
 * those of the withdrawal; there is none where the certificate holds no address.
 */
export const prepareConfirmationMail = async (
  { vault, config }: ReadDependencies,
  db: Database,
  { certificate, subjectSealed, emailIndex, contact, mailingAddress }: WithdrawableRecord,
  confirmed: Omit<WithdrawalRequest, "more"> & {
    readonly scope: WithdrawalScope;
    /** The act on single recipients; null of the whole certificate. */
    readonly entities: { readonly number: number; readonly names: readonly string[] } | null;
    readonly now: Instant;
  },
): Promise<readonly Statement[]> => {
  const { change, language, scope, entities, now } = confirmed;
  const { id: certId, businessId, environment, businessName } = certificate;
  const to = await openSubjectEmail(vault, certId, businessId, subjectSealed);
  if (to === null || emailIndex === null) return [];
  const onlyIf =
    change.method === "email_code"
      ? undefined
      : hasFewUnverifiedWithdrawals(
          { businessId, environment, address: { kind: "email", index: emailIndex } },
          now - dayMs,
          maxUnverifiedConfirmations,
        );
  return insertMail(db, vault, {
    template: "withdrawal_confirmation",
    data: {
      certId,
      businessName,
      by: change.method === "business_recorded" ? "business" : "person",
      entities: entities?.names ?? null,
      coversAllConsents: scope === "business",
      ceaseBy: deadlineOf(change.recorded?.receivedAt ?? now),
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
