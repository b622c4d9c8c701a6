// The email that confirms a withdrawal to the person.
import { toStoredIndex, type AddressIndex } from "../../../core/access/address-index.ts";
import { buildReceiptUrl, buildEntityReceiptUrl } from "../../../core/certificates/certificate-urls.ts";
import type { Instant } from "../../../core/time.ts";
import type { WithdrawalScope } from "../../../core/withdrawals/withdrawal.ts";
import { openPersonEmail } from "../../../storage/certificates.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import type { WithdrawableRecord } from "../../../storage/withdrawals.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";
import { getErrorKind } from "../../log.ts";
import type { WithdrawalRequest } from "./withdrawal-request.ts";

/**
 * Returns true if the mailbox may get another email about a withdrawal for which the address was not verified. Without a limit, anyone
 * could flood a mailbox by submitting forms with someone else's address and then withdrawing the certificates. Withdrawals by code or
 * emailed link verify the address, so they are not limited. If the counter fails, the email is still sent.
 */
const mayConfirmUnverified = async (
  services: WithdrawalWriteDependencies,
  { businessId, environment }: WithdrawableRecord["certificate"],
  index: AddressIndex,
): Promise<boolean> => {
  try {
    return (await services.takeExactly("UNVERIFIED_CONFIRMATIONS", `${businessId}:${environment}:${toStoredIndex(index)}`)).isAllowed;
  } catch (error) {
    services.log.error({ at: "withdrawal.confirmation", error: getErrorKind(error) });
    return true;
  }
};

/**
 * Prepares the email that says what was withdrawn, when contact must stop and whom to contact. Returns no statements if the certificate has
 * no email address, or if `mayConfirmUnverified` returns false.
 */
export const prepareConfirmationMail = async (
  services: WithdrawalWriteDependencies,
  db: Database,
  { certificate, personSealed, emailIndexes, contact, mailingAddress }: WithdrawableRecord,
  confirmed: Pick<WithdrawalRequest, "change" | "language" | "addressIndex"> & {
    readonly scope: WithdrawalScope;
    /** The withdrawal for individual recipients; null if the whole certificate was withdrawn. */
    readonly entities: { readonly number: number; readonly names: readonly string[] } | null;
    /** The time and deadline in the receipt. */
    readonly withdrawnAt: Instant;
    readonly ceaseBy: Instant;
    readonly now: Instant;
  },
): Promise<readonly Statement[]> => {
  const { vault, config } = services;
  const { change, language, scope, entities, withdrawnAt, ceaseBy, now } = confirmed;
  const { id: certId, businessId, businessName } = certificate;
  const index = confirmed.addressIndex ?? emailIndexes[0] ?? null;
  const to = index === null ? null : await openPersonEmail(vault, certId, businessId, personSealed, index);
  if (to === null || index === null) return [];
  if (change.method !== "email_code" && !(await mayConfirmUnverified(services, certificate, index))) return [];
  return insertMail(db, vault, {
    template: "withdrawal_confirmation",
    data: {
      certId,
      businessName,
      isTest: certificate.environment === "sandbox",
      by: change.method === "business_recorded" ? "business" : "person",
      entities: entities?.names ?? null,
      coversAllConsents: scope === "business",
      withdrawnAt: change.recorded?.receivedAt ?? withdrawnAt,
      ceaseBy,
      receiptUrl:
        entities === null ? buildReceiptUrl(config.baseUrl, certId) : buildEntityReceiptUrl(config.baseUrl, certId, entities.number),
      contact,
      mailingAddress,
    },
    to,
    language,
    now,
    certId,
  });
};
