// Composes an email from its content. To prevent injected headers and recipients, each address must be one mailbox, and the subject must be
// one printable line.
import { isEmailAddress } from "../email-address.ts";
import { renderHtmlBody } from "./html-body.ts";
import type { MailContent, OutgoingMail } from "./message.ts";
import type { Language } from "../language.ts";
import { renderTextBody } from "./text-body.ts";

export interface MailEnvelope {
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly language: Language;
}

/** The product name, which is shown above the heading. */
const brand = "svc";
const maxSubjectLength = 120;
const printableLinePattern = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u;

/** Composes the email. Throws if an address is not one mailbox or the subject is not one printable line of 1 to 120 characters. */
export const composeMail = ({ id, to, from, language }: MailEnvelope, content: MailContent): OutgoingMail => {
  const { subject } = content;
  if (!isEmailAddress(to) || !isEmailAddress(from)) throw new Error("mail: the address must be one mailbox");
  if (subject.length > maxSubjectLength || !printableLinePattern.test(subject))
    throw new Error("mail: the subject must be one printable line");
  // Providers refuse an email that is not valid UTF-8, so lone surrogates become U+FFFD.
  const text = renderTextBody(content, language).toWellFormed();
  return { id, to, from, subject: subject.toWellFormed(), text, html: renderHtmlBody(content, brand, language).toWellFormed() };
};
