// Composes an email: the text and HTML bodies come from the same lines. To rule out header injection and extra recipients, each address
// must be one mailbox and the subject one printable line.
import { isEmailAddress } from "../email-address.ts";

export interface OutgoingMail {
  /** UUID, the same for every attempt, so that a provider can deduplicate. */
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** `refused` is final. `later` means that sending failed or its result is unknown, so it is retried. */
export type MailOutcome = "accepted" | "refused" | "later";

export interface Mailer {
  /** Never throws. */
  readonly send: (message: OutgoingMail) => Promise<MailOutcome>;
}

/** A paragraph, a code in large type, or a link on a separate line. */
export type MailLine = string | { readonly code: string } | { readonly link: string };

export interface MailContent {
  readonly subject: string;
  readonly lines: readonly MailLine[];
}

const maxSubjectLength = 120;
const printableLinePattern = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u;

export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const renderTextLine = (line: MailLine): string => (typeof line === "string" ? line : "code" in line ? line.code : line.link);

// No colors: email programs handle dark mode themselves, and a hex color has six digits like a code.
const renderHtmlLine = (line: MailLine): string => {
  if (typeof line === "string") return `<p>${escapeHtml(line)}</p>`;
  if ("code" in line) return `<p style="font-size:2em;letter-spacing:.2em"><strong>${escapeHtml(line.code)}</strong></p>`;
  return `<p><a href="${escapeHtml(line.link)}">${escapeHtml(line.link)}</a></p>`;
};

/** Throws when an address is not one mailbox or the subject is not one printable line of 1 to 120 characters. */
export const composeMail = (
  envelope: { readonly id: string; readonly to: string; readonly from: string; readonly language: string },
  { subject, lines }: MailContent,
): OutgoingMail => {
  if (!isEmailAddress(envelope.to) || !isEmailAddress(envelope.from)) throw new Error("mail: the address must be one mailbox");
  if (subject.length > maxSubjectLength || !printableLinePattern.test(subject))
    throw new Error("mail: the subject must be one printable line");
  return {
    id: envelope.id,
    to: envelope.to,
    from: envelope.from,
    subject,
    text: `${lines.map(renderTextLine).join("\n\n")}\n`,
    html: `<!doctype html><html lang="${envelope.language}"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body>${lines.map(renderHtmlLine).join("")}</body></html>`,
  };
};

const maxNameLength = 100;

/**
 * Makes text that a user chose safe inside a sentence: one line of at most 100 characters, without anything that an email program would
 * turn into a link (`evil.example` becomes `evil. example`).
 */
export const toPlainName = (name: string): string =>
  name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/([.:/@])(?=\S)/g, "$1 ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, maxNameLength);
