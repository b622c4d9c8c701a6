// The person asks for a code that is mailed to the address on the certificate.
import { drawCode } from "../../../core/access/mailed-code.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import type { Fact } from "../../../core/facts.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { CertId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { comparableMailbox } from "../../../core/mailbox.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { sealedMailbox } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import { insertMail } from "../../../storage/outboxes/mail.ts";
import { ifOfUse, insertCode, unlessOfUse } from "../../../storage/withdrawal-codes.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { codePurpose, locateRecord } from "./by-person.ts";

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
  const id = crypto.randomUUID();
  const code = drawCode(services.random);
  const [addressIndex, codeHash, linkToken, mailbox] = await Promise.all([
    vault.blindIndex("email", comparableMailbox(asked.email) ?? ""),
    vault.codeHash(codePurpose(id), code),
    vault.linkToken(codePurpose(id)),
    sealedMailbox(vault, certificate.id, certificate.businessId, record.subjectSealed),
  ]);
  const isOnCertificate = record.emailIndex === addressIndex;
  const mail = {
    template: "withdrawal_code",
    data: {
      code,
      business_name: certificate.businessName,
      verify_url: `${verifyUrlOf(config.verifyUrl, certificate.id)}#m=${linkToken}`,
    },
    language: asked.language,
    certId: certificate.id,
    now,
  } as const;
  // One of the two is written: past a limit the mail is one to nobody, as it is for an address that is not on the
  // certificate; and it goes to the address as it stands there, never as it was typed here.
  const mails = await Promise.all([
    insertMail(db, vault, { ...mail, to: isOnCertificate ? mailbox : null, onlyIf: ifOfUse(id) }),
    insertMail(db, vault, { ...mail, to: null, onlyIf: unlessOfUse(id) }),
  ]);
  const fact: Fact = {
    type: "optout.code_requested",
    entityType: "certificate",
    entityId: certificate.id,
    at: now,
    chains: [certificate.chain],
    payload: {},
    actor: { kind: "visitor" }, // the chain is the business's: it does not learn whether the address was right
  };
  const asker = { certId: certificate.id, addressIndex, contextHash: sha256Hex(asked.context) };
  const rows = [insertCode(db, asker, { id, codeHash, now }), ...mails.flat()];
  await commit({ db, vault, ledgerId: config.ledger.id }, rows, [fact]);
  services.scheduleMail();
  services.scheduleFollowUp();
  return ok(true);
};
