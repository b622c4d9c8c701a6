// The code that a mail holds. It has a line to itself, so no part of a number or an address is taken for one; and it is looked for in all
// mails, because a notice that waited may be sent after it.

/** Of mails, the newest first; undefined where none holds a code. */
export const findNewestCode = (mails: readonly { readonly text: string }[]): string | undefined =>
  mails.flatMap(({ text }) => /^\d{6}$/m.exec(text)?.[0] ?? []).at(0);
