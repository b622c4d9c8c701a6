// Finds a one-time code in emails.

/**
 * Returns the code in the newest email that contains one; `mails` must be sorted newest first. Emails without a code, such as a delayed
 * notice, are skipped. The six digits must be on their own line, so that part of a number or address does not match.
 */
export const findNewestCode = (mails: readonly { readonly text: string }[]): string | undefined =>
  mails.flatMap(({ text }) => /^\d{6}$/m.exec(text)?.[0] ?? []).at(0);
