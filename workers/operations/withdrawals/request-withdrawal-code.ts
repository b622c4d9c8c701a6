// The person asks for a code that is mailed to the address on the certificate.
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { openSubjectEmail } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import { shouldSendCode } from "../../../storage/email-codes.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { prepareEmailCode } from "../access/email-codes.ts";
import { identifyCodeRequester, bindWithdrawalCode } from "./withdrawal-code.ts";
import { locateRecord } from "./locate-record.ts";

export interface WithdrawalCodeRequest {
  readonly certId: CertId;
  readonly email: string;
  /** A secret of the browser that asks, kept in its cookie. */
  readonly context: string;
  readonly language: MailLanguage;
}

/**
 * Whether or not the address is on the certificate, the same is read, opened, hashed, sealed and written, and nobody waits for a
 * mail: for an address that is not, the mail is one to nobody. Refuses `cert_not_found` only.
 */
export const requestWithdrawalCode = async (
  services: WriteDependencies,
  asked: WithdrawalCodeRequest,
): Promise<Result<true, "cert_not_found">> => {
  const found = await locateRecord(services, asked.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  const { certificate } = record;
  const { vault, config } = services;
  const now = services.clock();
  const [{ asker, isOnCertificate }, mailbox] = await Promise.all([
    identifyCodeRequester(services, record, asked.email, asked.context),
    openSubjectEmail(vault, certificate.id, certificate.businessId, record.subjectSealed),
  ]);
  const { id, rows } = await prepareEmailCode(services, db, asker, {
    limits: emailCodeLimits.withdrawal,
    binding: bindWithdrawalCode,
    to: isOnCertificate ? mailbox : null, // as it stands on the certificate, never as it was typed here
    mail: async (code, id) => ({
      template: "withdrawal_code",
      data: {
        code,
        businessName: certificate.businessName,
        verifyUrl: `${buildVerifyUrl(config.verifyUrl, certificate.id)}#m=${await vault.linkToken(bindWithdrawalCode(id))}`,
      },
    }),
    language: asked.language,
    now,
  });
  const act = { type: "optout.code_requested", entityType: "certificate", entityId: certificate.id } as const;
  // The chain is the business's: it learns of every mail that left.
  const fact = createAuditedEvent({ chain: certificate.chain, actor: { kind: "visitor" } }, act, now);
  // An entry for each mail, so at most ten a day a certificate: none for what a stranger asks past the limits or about others.
  await commit(db, services, rows, [fact], shouldSendCode(id, isOnCertificate));
  services.scheduleMail();
  return ok(true);
};
