// What happened to the values of a form before they were certified. It is published with the certificate and bound by the issuance's audit
// entry. Each member is present only if it says something, so that other certificates keep their form.

export interface SubmissionNotes {
  /** Keys of recognized fields whose values are not of their kind, for example a `country` that is not a country code; sorted. */
  readonly fields_unrecognized?: readonly string[];
  /** The form had more fields than a certificate can hold, and the page script left some out. */
  readonly fields_truncated?: true;
  /** Characters that cannot be stored became U+FFFD. */
  readonly text_replaced?: true;
}

export const buildSubmissionNotes = (input: {
  readonly unrecognized: readonly string[];
  readonly isTruncated: boolean;
  readonly isReplaced: boolean;
}): SubmissionNotes => ({
  ...(input.unrecognized.length > 0 && { fields_unrecognized: input.unrecognized }),
  ...(input.isTruncated && { fields_truncated: true }),
  ...(input.isReplaced && { text_replaced: true }),
});
