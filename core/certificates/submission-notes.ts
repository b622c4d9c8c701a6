// Notes on form values that are invalid, changed or omitted. They are published with the certificate, and the audit entry of the issuance
// commits to them. Notes that do not apply are omitted, so that the JSON of certificates without notes never changes.

export interface SubmissionNotes {
  /** The sorted keys of recognized fields with invalid values, for example a `country` that is not a country code. */
  readonly fields_unrecognized?: readonly string[];
  /** True if the page script omitted fields because there were too many or their values were too long. */
  readonly fields_truncated?: true;
  /** True if characters that cannot be stored were replaced with U+FFFD. */
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
