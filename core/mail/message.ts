// A mail as it is handed to whoever sends it, and how its two bodies are set from the same lines. Nothing here can carry a
// second header or a second recipient: the address is one mailbox, and a subject is one printable line.
import { isEmailAddress } from "../email-address.ts";

export interface OutgoingMail {
  /** UUID; the same for every attempt, so that a provider can tell a repeat. */
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** `refused`: it will never be taken. `later`: nobody knows yet, or not now. */
export type MailOutcome = "accepted" | "refused" | "later";

/** Hands one mail over. Never throws. */
export interface Mailer {
  readonly send: (message: OutgoingMail) => Promise<MailOutcome>;
}

/** What a template says: plain paragraphs, a code set large, an address on a line of its own. */
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

// Without colours: the reader's own mail program knows whether it is night. Also, a colour is six digits, as a code is.
const renderHtmlLine = (line: MailLine): string => {
  if (typeof line === "string") return `<p>${escapeHtml(line)}</p>`;
  if ("code" in line) return `<p style="font-size:2em;letter-spacing:.2em"><strong>${escapeHtml(line.code)}</strong></p>`;
  return `<p><a href="${escapeHtml(line.link)}">${escapeHtml(line.link)}</a></p>`;
};

/** Throws for an address that is not one mailbox and a subject that is not one short line: neither comes from outside unjudged. */
export const composeMail = (
  envelope: { readonly id: string; readonly to: string; readonly from: string; readonly language: string },
  { subject, lines }: MailContent,
): OutgoingMail => {
  if (!isEmailAddress(envelope.to) || !isEmailAddress(envelope.from)) throw new Error("mail: an address is not one mailbox");
  if (subject.length > maxSubjectLength || !printableLinePattern.test(subject)) throw new Error("mail: the subject is not one line");
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
 * A name that somebody chose, fit to stand in a sentence of ours: one line, and nothing in it that a mail program would
 * turn into a link (`evil.example` becomes `evil. example`).
 */
export const toPlainName = (name: string): string =>
  name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .replaceAll(/([.:/@])(?=\S)/g, "$1 ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, maxNameLength);
