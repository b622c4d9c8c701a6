// The content of an email, independent of its language and format. The text body and the HTML body are rendered from the same lines.

import { cutText } from "../cut-text.ts";

export interface OutgoingMail {
  /** A UUID that is the same for every attempt, so that a provider can recognize duplicates. */
  readonly id: string;
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/**
 * The result of sending. `later`: sending failed or its result is unknown, so the email will be sent again. The other results are final:
 * the provider accepted the email, the provider refused it, or the address needs SMTPUTF8 and the provider does not support that.
 */
export type MailOutcome = "accepted" | "refused" | "unsupported_address" | "later";

/** The reasons why an email will not be sent. `expired`: the email was still unsent at the end of its lifetime. */
export const mailFailureReasons = ["refused", "unsupported_address", "expired"] as const;
export type MailFailureReason = (typeof mailFailureReasons)[number];

export interface MailCapabilities {
  /** True if the provider sends to addresses with non-ASCII characters before the @ (SMTPUTF8, RFC 6531). */
  readonly supportsUtf8Addresses: boolean;
}

export interface Mailer {
  /** Sends an email. Never throws. */
  readonly send: (message: OutgoingMail) => Promise<MailOutcome>;
}

export type MailSpan = string | { readonly strong: string };

/** Text in which some parts are emphasized. */
export type MailText = readonly MailSpan[];

/** One row of the table in a `facts` line. If there are several values, each is on a separate line. */
export interface MailFact {
  readonly label: string;
  readonly values: readonly string[];
  /** `id` is for text that readers copy, such as a certificate ID. */
  readonly style?: "strong" | "id";
}

export type MailLine =
  | { readonly kind: "paragraph"; readonly text: MailText }
  /** A one-time code. In the text body, it is on a separate line. */
  | { readonly kind: "code"; readonly code: string }
  | { readonly kind: "facts"; readonly facts: readonly MailFact[] }
  /** A button. The email also shows the button's URL, for readers who cannot click it. */
  | { readonly kind: "action"; readonly label: string; readonly link: string; readonly hint: string }
  | { readonly kind: "link"; readonly label: string; readonly link: string }
  | { readonly kind: "heading"; readonly heading: string; readonly text: MailText };

export interface MailContent {
  /** The subject, which is also the heading of the HTML body. */
  readonly subject: string;
  /** The lines of the email. The first one is a paragraph, which inboxes show as a preview after the subject. */
  readonly lines: readonly MailLine[];
  /** The lines below a horizontal rule: what to do if something is wrong, and why the recipient gets the email. */
  readonly footer: readonly MailLine[];
}

export const toPlainText = (text: MailText): string => text.map((span) => (typeof span === "string" ? span : span.strong)).join("");

/** Returns the first paragraph as plain text. */
export const getPreview = ({ lines: [first] }: MailContent): string => (first?.kind === "paragraph" ? toPlainText(first.text) : "");

/**
 * Replaces each `{name}` with its value, in one pass, so that text in a value is never treated as a placeholder. A placeholder without a
 * value stays visible.
 */
export const fillText = (text: string, values: Readonly<Record<string, MailSpan>> = {}): MailText =>
  text.split(/(\{[a-z]+\})/).flatMap((part) => {
    const value = part.startsWith("{") ? (values[part.slice(1, -1)] ?? part) : part;
    return value === "" ? [] : [value];
  });

export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const maxNameLength = 100;

/**
 * Makes user-chosen text safe for use in a sentence: one line of at most 100 characters, without anything that an email program would turn
 * into a link (`evil.example` becomes `evil. example`). Keeps the joiners that Persian and Indic names and emoji need.
 */
export const toPlainName = (name: string): string =>
  cutText(
    name
      .replaceAll(/[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]+/gv, " ")
      .replaceAll(/([.:/@])(?=\S)/g, "$1 ")
      .replaceAll(/\s+/g, " ")
      .trim(),
    maxNameLength,
  ).trimEnd();
