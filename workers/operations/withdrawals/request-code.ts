// The person asks for a code that is mailed to the address on the certificate.
import { mailedCodeLimits } from "../../../core/access/mailed-code.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { factOf } from "../../../core/facts.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { sealedMailbox } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import { ifMailed } from "../../../storage/mailed-codes.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { mailedCode } from "../access/mailed-codes.ts";
import { askerAbout, codeBinding } from "./by-person.ts";
import { locateRecord } from "./withdraw.ts";

export interface CodeRequest {
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
  services: Runtime & Stores & Schedules,
  asked: CodeRequest,
): Promise<Result<true, "cert_not_found">> => {
  const found = await locateRecord(services, asked.certId);
  if (found === null) return refuse("cert_not_found");
  const { db, record } = found;
  const { certificate } = record;
  const { vault, config } = services;
  const now = services.clock();
  const [{ asker, isOnCertificate }, mailbox] = await Promise.all([
    askerAbout(services, record, asked.email, asked.context),
    sealedMailbox(vault, certificate.id, certificate.businessId, record.subjectSealed),
  ]);
  const { id, rows } = await mailedCode(services, db, asker, {
    limits: mailedCodeLimits.withdrawal,
    binding: codeBinding,
    to: isOnCertificate ? mailbox : null, // as it stands on the certificate, never as it was typed here
    mail: async (code, id) => ({
      template: "withdrawal_code",
      data: {
        code,
        business_name: certificate.businessName,
        verify_url: `${verifyUrlOf(config.verifyUrl, certificate.id)}#m=${await vault.linkToken(codeBinding(id))}`,
      },
    }),
    language: asked.language,
    now,
  });
  const act = { type: "optout.code_requested", entityType: "certificate", entityId: certificate.id } as const;
  // The chain is the business's: it learns of every mail that left.
  const fact = factOf({ chain: certificate.chain, actor: { kind: "visitor" } }, act, now);
  // An entry for each mail, so at most ten a day a certificate: none for what a stranger asks past the limits or about others.
  await commit(db, services, rows, [fact], ifMailed(id, isOnCertificate));
  services.scheduleMail();
  return ok(true);
};
