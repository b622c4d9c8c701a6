// Finds a one-time code in emails.

/**
 * The code in the newest email that contains one; `mails` has the newest first. Only six digits on a line of their own count, so that a
 * part of a number or address does not. Later emails without a code, such as a delayed notice, are skipped.
 */
export const findNewestCode = (mails: readonly { readonly text: string }[]): string | undefined =>
  mails.flatMap(({ text }) => /^\d{6}$/m.exec(text)?.[0] ?? []).at(0);
