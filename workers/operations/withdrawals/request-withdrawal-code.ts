// Implements POST /v1/certs/{id}/opt-out/request. Emails the person a code for withdrawing consent.
import { emailCodeLimits } from "../../../core/access/email-code.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { createAuditedEvent } from "../../../core/domain-events.ts";
import type { CertId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { openPersonEmail } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import { shouldSendCode } from "../../../storage/email-codes.ts";
import { prepareEmailCode } from "../access/email-codes.ts";
import { identifyCodeRequester, bindWithdrawalCode } from "./withdrawal-code.ts";
import { locateRecord } from "./locate-record.ts";
import type { WithdrawalWriteDependencies } from "./dependencies.ts";

export interface WithdrawalCodeRequest {
  readonly certId: CertId;
  readonly email: string;
  /** The secret in the requesting browser's cookie. */
  readonly context: string;
  readonly language: Language;
}

/**
 * Emails a code if the address is on the certificate (SPEC Withdrawal). For any other address, does the same reads, decryptions, hashes and
 * writes, but the email has no recipient. Therefore, the result and the duration do not reveal whether the address matches. The only
 * possible error is `cert_not_found`.
 */
export const requestWithdrawalCode = async (
  services: WithdrawalWriteDependencies,
  request: WithdrawalCodeRequest,
): Promise<Result<true, "cert_not_found">> => {
  const found = await locateRecord(services, request.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  const { certificate } = record;
  const { vault, config } = services;
  const now = services.clock();
  const { addressIndex, requester, isOnCertificate } = await identifyCodeRequester(services, record, request.email, request.context);
  const mailbox = await openPersonEmail(vault, certificate.id, certificate.businessId, record.personSealed, addressIndex);
  const { id, statements } = await prepareEmailCode(services, db, requester, {
    limits: emailCodeLimits.withdrawal,
    binding: bindWithdrawalCode,
    to: isOnCertificate ? mailbox : null, // send the code to the address on the certificate, never to the typed one
    mail: async (code, id) => ({
      template: "withdrawal_code",
      data: {
        code,
        businessName: certificate.businessName,
        isTest: certificate.environment === "sandbox",
        verifyUrl: `${buildVerifyUrl(config.verifyUrl, certificate.id)}#m=${await vault.linkToken(bindWithdrawalCode(id))}`,
      },
    }),
    language: request.language,
    now,
  });
  const action = { type: "optout.code_requested", entityType: "certificate", entityId: certificate.id } as const;
  const domainEvent = createAuditedEvent({ chain: certificate.chain, actor: { kind: "visitor" } }, action, now);
  // Only emails that are sent get an audit entry, at most ten a day per address, so that strangers cannot flood the business's chain.
  await commit(db, services, statements, [domainEvent], shouldSendCode(id, isOnCertificate));
  services.scheduleMail();
  return ok(true);
};
