// POST /v1/consent.
import type { Environment } from "../../../core/access/entitlement.ts";
import { storageLimitMessages } from "../../../core/access/storage-limits.ts";
import { getOriginRules } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { parseStoredReceipt, type CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { Submission, CaptureContext } from "../../../core/certificates/certificate.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import { recognizeFields } from "../../../core/certificates/recognized-fields.ts";
import { parseSubmission, type ParsedSubmission } from "../../../core/certificates/submission.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { buildCertId, randomBytesPerId, type ClientId, type BusinessId } from "../../../core/ids.ts";
import { ok, refuseWhen, refuse, type Result } from "../../../core/result.ts";
import type { IssuingClient } from "../../../storage/accounts.ts";
import { isCertIdTaken, isOutdatedRevision } from "../../../storage/certificates.ts";
import { isDailyLimitReached } from "../../../storage/client-usage.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { isStorageLimitReached } from "../../../storage/record-usage.ts";
import { idempotencyKeyHash, isIdempotencyKeyTaken, findIdempotentResponse } from "../../../storage/idempotency.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { rootSaltBytes, commitIssuance, type IdempotencyHashes } from "./commit-issuance.ts";
import { readSubmissionClient, type SubmissionClient } from "./resolve-submission-client.ts";

export interface CaptureRequest {
  /** The result of `resolveSubmissionClient`. Null if the client ID is malformed or unknown. */
  readonly client: SubmissionClient | null;
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureContext;
  /** From the Idempotency-Key header or from `submission_id` in the body, which are equivalent. */
  readonly idempotencyKey: string | null;
  /** The owner of the request's API key. Null if the request comes from a visitor's browser. */
  readonly caller: { readonly keyId: string; readonly businessId: BusinessId; readonly environment: Environment } | null;
}

export interface CaptureResult {
  readonly receipt: CaptureReceipt;
  /** Whether an earlier request with this idempotency key issued the certificate. */
  readonly isReplayed: boolean;
}

/** Hashes every sealed value about the person and the disclosure text. Excludes anything that changes when the request is retried. */
const hashSubmission = (clientId: ClientId, submission: Submission, parsed: ParsedSubmission): string =>
  sha256Hex(
    toCanonicalJson({
      client_id: clientId,
      fields: [...parsed.fields].sort(([a], [b]) => (a < b ? -1 : 1)),
      disclosure_text: submission.disclosureText,
      entities: parsed.recipients.entities,
      answered:
        parsed.recipients.answered === undefined ? null : [parsed.recipients.answered.accepted, parsed.recipients.answered.rejected],
      purpose: parsed.purpose,
      page_url: submission.pageUrl,
    }),
  );

/**
 * Without an API key, idempotency keys belong to the client and the Origin. Client IDs are public, so other sites must not share the
 * client's keys.
 */
const getIdempotencyKeyOwner = ({ caller, originHeader }: CaptureRequest, clientId: ClientId): string =>
  caller === null ? `${clientId} ${originHeader?.toLowerCase() ?? ""}` : caller.keyId;

/** The parsed parts of a submission that do not depend on the account. */
interface ParsedCapture {
  readonly clientId: ClientId;
  readonly request: CaptureRequest;
  readonly parsed: ParsedSubmission;
  readonly idempotencyHashes: IdempotencyHashes | null;
}

/**
 * Makes one attempt. Throws if the account changed since it was loaded, or if the idempotency key or the certificate's ID is already used.
 * `isIdRandom` is needed if an earlier certificate was issued under the same idempotency key, whose response has expired.
 */
const attemptCapture = async (
  services: CertificateWriteDependencies,
  db: Database,
  { clientId, request, parsed, idempotencyHashes }: ParsedCapture,
  client: SubmissionClient,
  isIdRandom: boolean,
): Promise<Result<CaptureResult>> => {
  const { account } = client.known;
  const idBytes =
    idempotencyHashes === null || isIdRandom
      ? services.random(randomBytesPerId)
      : await services.vault.certificateBytes(idempotencyHashes.keyHash);
  const recognized = recognizeFields(parsed.fields, account.country, services.toE164);
  const issued = issueCertificate({
    business: account,
    clientId,
    submission: request.submission,
    parsed,
    unrecognized: recognized.unrecognized,
    originHeader: request.originHeader,
    captureContext: request.circumstances,
    rules: getOriginRules(services.config, account),
    now: services.clock(),
    certId: buildCertId(clientId, idBytes),
    rootSalt: services.random(rootSaltBytes),
  });
  if (!issued.ok) return issued;
  try {
    const hasApiKey = request.caller !== null;
    return await commitIssuance(services, db, client, issued.value, recognized, idempotencyHashes, hasApiKey);
  } catch (error) {
    if (isDailyLimitReached(error)) return refuse("rate_limited", storageLimitMessages.client);
    const owner = account.environment === "sandbox" ? "sandbox" : "business";
    return refuseWhen(isStorageLimitReached, "rate_limited", storageLimitMessages[owner])(error);
  }
};

/** Visitors do not need an API key. An API key works only for its business's clients; a test key works only for sandbox clients. */
const canActForClient = (caller: CaptureRequest["caller"], account: IssuingClient): boolean =>
  caller === null || (caller.businessId === account.id && (caller.environment === "live" || account.environment === "sandbox"));

/**
 * Issues a certificate for a form submission and returns once it is stored in the database or the journal (SPEC Certificate API).
 * Background work takes care of policy captures, audit entries and ledger statements. The first attempt uses the resolved client without
 * reading it again. If that attempt fails, the account may be outdated or the idempotency key already used, so both are read before an error
 * is returned. Errors are checked in this order: `invalid_request`, `client_not_found`, `forbidden` (an API key from another business, or a test key for a live client), the errors
 * of `issueCertificate`, `rate_limited`. If the idempotency key has a saved response, that response is returned instead, after checking for
 * `origin_not_verified` and `idempotency_conflict`.
 */
export const captureConsent = async (services: CertificateWriteDependencies, request: CaptureRequest): Promise<Result<CaptureResult>> => {
  const { client, submission, originHeader } = request;
  const parsed = parseSubmission(submission);
  if (!parsed.ok) return parsed;
  if (client === null) return refuse("client_not_found");
  const { id: clientId } = client;
  const db = services.shards.forId(clientId);
  const idempotencyHashes: IdempotencyHashes | null =
    request.idempotencyKey === null
      ? null
      : {
          keyHash: idempotencyKeyHash(getIdempotencyKeyOwner(request, clientId), "POST /v1/consent", request.idempotencyKey),
          bodyHash: hashSubmission(clientId, submission, parsed.value),
        };

  const capture = { clientId, request, parsed: parsed.value, idempotencyHashes };
  let isIdTaken = false;
  const isIdConflict = (error: unknown): boolean => {
    if (!isCertIdTaken(error)) return false;
    isIdTaken = true;
    return true;
  };
  const conflicts = [isOutdatedRevision, isIdempotencyKeyTaken, isIdConflict];
  if (canActForClient(request.caller, client.known.account)) {
    const attempt = await retryOnConflict(conflicts, () => attemptCapture(services, db, capture, client, false), 1);
    // Only the journal finds a conflict before the second attempt, and the key is then certainly used.
    if (attempt.ok || attempt.code === "idempotency_conflict") return attempt;
  }
  return retryOnConflict(conflicts, async () => {
    const [current, saved] = await Promise.all([
      readSubmissionClient(services, clientId, originHeader),
      idempotencyHashes === null ? null : findIdempotentResponse(db, services.vault, idempotencyHashes.keyHash, services.clock()),
    ]);
    if (current === null) return refuse("client_not_found");
    if (!canActForClient(request.caller, current.known.account)) return refuse("forbidden");
    if (saved === null) return attemptCapture(services, db, capture, current, isIdTaken);
    if (!current.origin.ok) return current.origin;
    if (saved.bodyHash !== idempotencyHashes?.bodyHash) return refuse("idempotency_conflict");
    return ok({ receipt: parseStoredReceipt(saved.response), isReplayed: true });
  });
};
