// The mail that tells the person what was withdrawn, until when contact must end, and whom to turn to.
import { ceaseBy } from "../../../core/business-days.ts";
import { entityReceiptUrlOf, receiptUrlOf } from "../../../core/certificates/views.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import type { WithdrawalChange, WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { sealedMailbox } from "../../../storage/certificates.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { ifFewUnproved, type WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { Runtime, Stores } from "../../services.ts";

/**
 * A code or a mailed link is the person's own doing. Any other withdrawal can follow from a form that a stranger filled in with this
 * address, so at most three a day are confirmed by one business to one address.
 */
const maxUnproved = 3;

export interface Confirmed {
  readonly change: WithdrawalChange;
  readonly language: MailLanguage;
  readonly scope: WithdrawalScope;
  /** The act on single recipients; null of the whole certificate. */
  readonly entities: { readonly number: number; readonly names: readonly string[] } | null;
  readonly now: Instant;
}

/** The row for the batch, before the rows of the withdrawal; none where the certificate holds no address. */
export const confirmationMail = async (
  { vault, config }: Runtime & Stores,
  db: Database,
  { certificate, subjectSealed, emailIndex, contact, mailingAddress }: WithdrawableRecord,
  { change, language, scope, entities, now }: Confirmed,
): Promise<readonly Statement[]> => {
  const { id: certId, businessId, environment, businessName } = certificate;
  const to = await sealedMailbox(vault, certId, businessId, subjectSealed);
  if (to === null || emailIndex === null) return [];
  const onlyIf =
    change.method === "email_code"
      ? undefined
      : ifFewUnproved({ businessId, environment, address: { kind: "email", index: emailIndex } }, now - dayMs, maxUnproved);
  return insertMail(db, vault, {
    template: "withdrawal_confirmation",
    data: {
      cert_id: certId,
      business_name: businessName,
      by: change.method === "business_recorded" ? "business" : "person",
      entities: entities?.names ?? null,
      is_everything: scope === "business",
      cease_by: ceaseBy(change.recorded?.receivedAt ?? now),
      receipt_url: entities === null ? receiptUrlOf(config.baseUrl, certId) : entityReceiptUrlOf(config.baseUrl, certId, entities.number),
      contact,
      mailing_address: mailingAddress,
    },
    to,
    language,
    now,
    certId,
    ...(onlyIf !== undefined && { onlyIf }),
  });
};
