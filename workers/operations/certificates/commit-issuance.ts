// Commits an issued certificate in one batch.
import { toBase64Url } from "../../../core/bytes.ts";
import { serializeStoredReceipt, type CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { IssuedCertificate } from "../../../core/certificates/issue.ts";
import type { RecognizedFields } from "../../../core/certificates/recognized-fields.ts";
import { buildVerifyUrl } from "../../../core/certificates/certificate-urls.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { captureReuseMs } from "../../../core/policies/snapshot.ts";
import type { IssuingClient } from "../../../storage/accounts.ts";
import { insertIssuance } from "../../../storage/certificates.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { insertIdempotentResponse } from "../../../storage/idempotency.ts";
import { runIsolated } from "../../log.ts";
import type { Runtime } from "../dependencies.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { warnOwnersNearDailyLimit } from "./warn-owners-near-daily-limit.ts";

export interface IdempotencyHashes {
  readonly keyHash: string;
  readonly bodyHash: string;
}

export const rootSaltBytes = 32;

const manageTokenBytes = 32;

/** Returns a URL without its query and fragment, which can contain personal data. */
const stripQuery = (pageUrl: string): string => {
  const url = new URL(pageUrl);
  return url.origin + url.pathname;
};

const toCaptureReceipt = (services: Runtime, { certificate }: IssuedCertificate, manageToken: string): CaptureReceipt => {
  const verifyUrl = buildVerifyUrl(services.config.verifyUrl, certificate.id);
  return {
    certId: certificate.id,
    fingerprint: certificate.fingerprint,
    issuedAt: certificate.issuedAt,
    verifyUrl,
    environment: certificate.environment,
    manageUrl: `${verifyUrl}#m=${manageToken}`,
    fieldsUnrecognized: certificate.notes.fields_unrecognized ?? [],
    answered: certificate.recipients.answered ?? null,
  };
};

/**
 * Commits an issuance and its follow-up work as one batch. This is the only database round trip in a typical submission. On failure, check
 * `isOutdatedRevision`, `isDailyLimitReached`, `isStorageLimitReached` and `isIdempotencyKeyTaken`. In all of these cases, nothing was written.
 */
export const commitIssuance = async (
  services: CertificateWriteDependencies,
  db: Database,
  business: IssuingClient,
  issued: IssuedCertificate,
  recognized: RecognizedFields,
  idempotencyKey: IdempotencyHashes | null,
  hasApiKey: boolean,
): Promise<CaptureReceipt> => {
  const { certificate } = issued;
  const manageToken = toBase64Url(services.random(manageTokenBytes));
  const receipt = toCaptureReceipt(services, issued, manageToken);
  const [signature, emails, phones] = await Promise.all([
    services.signer.sign(certificate.canonical),
    Promise.all(recognized.emails.map((email) => services.vault.blindIndex("email", email))),
    Promise.all(recognized.phones.map((phone) => services.vault.blindIndex("phone", phone))),
  ]);
  const issuance = await insertIssuance(db, services.vault, issued, {
    revision: business.revision,
    signature: { kid: services.signer.kid, alg: "Ed25519", value: signature },
    manageTokenHash: sha256Hex(manageToken),
    addresses: { emails, phones },
    policiesNotBefore: certificate.issuedAt - captureReuseMs,
    policyOrigin: new URL(String(certificate.evidence.origin_reported)).origin,
    policyPage: stripQuery(String(certificate.evidence.page_url)),
    storageLimits: services.config.storageLimits,
    hasApiKey,
  });
  const response = { status: 201, response: serializeStoredReceipt(receipt), certId: certificate.id, now: certificate.issuedAt };
  const [idempotentResponse] =
    idempotencyKey === null ? [] : await insertIdempotentResponse(db, services.vault, { ...idempotencyKey, ...response });
  const { usage, policyRequest } = await commit(
    db,
    services,
    { ...issuance, ...(idempotentResponse !== undefined && { idempotentResponse }) },
    [issued.domainEvent],
  );
  if (policyRequest.length > 0) services.scheduleRelay();
  if (usage[0]?.isNear === true)
    services.waitUntil(() =>
      runIsolated(services, "warn-near-limit", () => warnOwnersNearDailyLimit(services, db, business.id, certificate)),
    );
  return receipt;
};
