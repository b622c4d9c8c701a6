// What an issuance answers, and the text under which that answer is kept for a day for whoever sends the same again.
import type { Environment } from "../access/entitlement.ts";
import type { CertId } from "../ids.ts";
import { toIso, type Instant } from "../time.ts";

export interface CaptureReceipt {
  readonly certId: CertId;
  readonly fingerprint: string;
  readonly issuedAt: Instant;
  readonly verifyUrl: string;
  readonly environment: Environment;
  /** The person's withdrawal link, with its secret. */
  readonly manageUrl: string;
  /** Null where the form did not ask recipient by recipient. */
  readonly answered: { readonly accepted: readonly string[]; readonly rejected: readonly string[] } | null;
}

/** Sealed and stored in this form: another version may replay it. */
const toStoredReceipt = (receipt: CaptureReceipt) => ({
  cert_id: receipt.certId,
  fingerprint: receipt.fingerprint,
  issued_at: toIso(receipt.issuedAt),
  verify_url: receipt.verifyUrl,
  status: "active",
  environment: receipt.environment,
  manage_url: receipt.manageUrl,
  ...(receipt.answered && { entities_accepted: receipt.answered.accepted, entities_rejected: receipt.answered.rejected }),
});

export const serializeStoredReceipt = (receipt: CaptureReceipt): string => JSON.stringify(toStoredReceipt(receipt));

export const parseStoredReceipt = (text: string): CaptureReceipt => {
  const kept = JSON.parse(text) as ReturnType<typeof toStoredReceipt>;
  const { entities_accepted: accepted, entities_rejected: rejected } = kept;
  return {
    certId: kept.cert_id,
    fingerprint: kept.fingerprint,
    issuedAt: Date.parse(kept.issued_at),
    verifyUrl: kept.verify_url,
    environment: kept.environment,
    manageUrl: kept.manage_url,
    answered: accepted === undefined || rejected === undefined ? null : { accepted, rejected },
  };
};
