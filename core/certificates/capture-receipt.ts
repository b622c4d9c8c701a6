// The receipt that is returned when a certificate is issued, and its stored form in an intake journal. A caller that repeats the request
// with the same idempotency key within one day gets the same receipt again.
import type { Environment } from "../access/entitlement.ts";
import type { CertId } from "../ids.ts";
import { toIso, type Instant } from "../time.ts";

export interface CaptureReceipt {
  readonly certId: CertId;
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  readonly verifyUrl: string;
  readonly environment: Environment;
  /** The person's withdrawal link, including its secret. */
  readonly manageUrl: string;
  /** The keys of recognized fields with invalid values. */
  readonly fieldsUnrecognized: readonly string[];
  /** The person's answers; null if the form did not ask about each recipient. */
  readonly answered: { readonly accepted: readonly string[]; readonly rejected: readonly string[] } | null;
}

/**
 * Converts a receipt to the stored form. Never change this form in an incompatible way, because older and newer versions of the service
 * must be able to read it.
 */
const toStoredReceipt = (receipt: CaptureReceipt) => ({
  cert_id: receipt.certId,
  fingerprint: receipt.fingerprint,
  issued_at: toIso(receipt.issuedAt),
  verify_url: receipt.verifyUrl,
  status: "active",
  environment: receipt.environment,
  manage_url: receipt.manageUrl,
  ...(receipt.fieldsUnrecognized.length > 0 && { fields_unrecognized: receipt.fieldsUnrecognized }),
  ...(receipt.answered && { entities_accepted: receipt.answered.accepted, entities_rejected: receipt.answered.rejected }),
});

/** Returns the stored form of a receipt as text, which the caller seals. */
export const serializeStoredReceipt = (receipt: CaptureReceipt): string => JSON.stringify(toStoredReceipt(receipt));

/** Parses what `serializeStoredReceipt` wrote. Throws for text that is not JSON. */
export const parseStoredReceipt = (text: string): CaptureReceipt => {
  const stored = JSON.parse(text) as ReturnType<typeof toStoredReceipt>;
  const { fields_unrecognized: fieldsUnrecognized = [], entities_accepted: accepted, entities_rejected: rejected } = stored;
  return {
    certId: stored.cert_id,
    fingerprint: stored.fingerprint,
    issuedAt: Date.parse(stored.issued_at),
    verifyUrl: stored.verify_url,
    environment: stored.environment,
    manageUrl: stored.manage_url,
    fieldsUnrecognized,
    answered: accepted === undefined || rejected === undefined ? null : { accepted, rejected },
  };
};
