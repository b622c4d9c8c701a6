// Implements POST /v1/consent.
import { getOriginRules } from "../../../core/access/origins.ts";
import { storageLimitMessages } from "../../../core/access/storage-limits.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import { recognizeFields } from "../../../core/certificates/recognized-fields.ts";
import { parseSubmission, type ParsedSubmission } from "../../../core/certificates/submission.ts";
import { buildCertId, randomBytesPerId, type ClientId, type ShardId } from "../../../core/ids.ts";
import { refuse, type Result } from "../../../core/result.ts";
import type { IssuingClient } from "../../../storage/accounts.ts";
import { isDailyLimitReached } from "../../../storage/client-usage.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { isForeignKeyViolation, StorageFault } from "../../../storage/faults.ts";
import type { IdempotencyHashes } from "../../../storage/idempotency.ts";
import { isCertIdTaken, isOutdatedRevision } from "../../../storage/issuances.ts";
import { isStorageLimitReached } from "../../../storage/record-usage.ts";
import type { CaptureRequest } from "./capture-request.ts";
import { commitIssuance, rootSaltBytes, type CaptureResult } from "./commit-issuance.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { buildKeyedId, findRepeated, findRepeatedEarlier, hashIdempotencyKey } from "./find-repeated-submission.ts";
import { continueInShardWithRoom, waitForIssuer } from "./issuing-shard.ts";
import { readSubmissionClient, type SubmissionClient } from "./resolve-submission-client.ts";

/** A parsed submission. It does not depend on the account, so every attempt uses the same one. */
interface ParsedCapture {
  readonly clientId: ClientId;
  readonly request: CaptureRequest;
  readonly parsed: ParsedSubmission;
  readonly idempotencyHashes: IdempotencyHashes | null;
}

/** What failed attempts have shown about the account and the idempotency key. */
interface Conflicts {
  isAccountOutdated: boolean;
  /** The shard that already has a certificate with the ID derived from the idempotency key; null if no attempt has found one. */
  idTakenIn: ShardId | null;
}

// A foreign key violation means that the certificate's shard has no copy of the account yet.
const isAccountConflict = (error: unknown): boolean => isOutdatedRevision(error) || isForeignKeyViolation(error);

/**
 * Makes one attempt. If the account has changed since it was loaded, or the certificate's ID already exists, throws and records this in
 * `conflicts`. The ID is derived from the idempotency key, so an existing ID means that the key was used before. The caller then looks for
 * the certificate with this ID. If that certificate is more than a day old, the next attempt in the shard uses an ID that also depends on
 * the day.
 */
const attemptCapture = async (
  services: CertificateWriteDependencies,
  { clientId, request, parsed, idempotencyHashes }: ParsedCapture,
  client: SubmissionClient,
  conflicts: Conflicts,
): Promise<Result<CaptureResult>> => {
  const { shard, known } = client;
  const { account } = known;
  const certId =
    idempotencyHashes === null
      ? buildCertId(shard, clientId, services.random(randomBytesPerId))
      : await buildKeyedId(services, shard, clientId, idempotencyHashes.keyHash, conflicts.idTakenIn === shard ? "today" : "first");
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
    certId,
    rootSalt: services.random(rootSaltBytes),
  });
  if (!issued.ok) return issued;
  try {
    return await commitIssuance(services, client, issued.value, { recognized, idempotencyHashes, hasApiKey: request.caller !== null });
  } catch (error) {
    if (isDailyLimitReached(error)) return refuse("rate_limited", storageLimitMessages.client);
    if (isStorageLimitReached(error))
      return refuse("rate_limited", storageLimitMessages[account.environment === "sandbox" ? "sandbox" : "business"]);
    if (isAccountConflict(error)) conflicts.isAccountOutdated = true;
    if (isCertIdTaken(error)) conflicts.idTakenIn = shard;
    throw error;
  }
};

/** Visitors need no API key. An API key works only for clients of its business, and a test key only for test clients. */
const canActForClient = (caller: CaptureRequest["caller"], account: IssuingClient): boolean =>
  caller === null || (caller.businessId === account.id && (caller.environment === "live" || account.environment === "sandbox"));

const isShardFull = ({ intakeState, config, clock }: CertificateWriteDependencies, { shard }: SubmissionClient): boolean =>
  intakeState.isFull(shard, config.maxShardBytes, clock());

/**
 * Reads the account again and looks for a certificate that was issued with the idempotency key. If there is none, attempts to issue one.
 * `triedShard` is the shard that the first attempt used.
 */
const captureWithCurrentAccount = async (
  services: CertificateWriteDependencies,
  capture: ParsedCapture,
  triedShard: ShardId,
  conflicts: Conflicts,
): Promise<Result<CaptureResult>> => {
  const { clientId, request, idempotencyHashes: hashes } = capture;
  const [loaded, repeatedInTriedShard] = await Promise.all([
    readSubmissionClient(services, clientId, request.originHeader),
    hashes && findRepeated(services, triedShard, clientId, hashes),
  ]);
  const client = loaded !== null && conflicts.isAccountOutdated ? await waitForIssuer(services, loaded, request.originHeader) : loaded;
  if (client === null) return refuse("client_not_found");
  if (!canActForClient(request.caller, client.known.account)) return refuse("forbidden");
  // If the issuing shard does not respond, the search must throw. Skipping it could give a repeated submission a second certificate.
  const repeated =
    repeatedInTriedShard ??
    (hashes && client.shard !== triedShard ? await findRepeated(services, client.shard, clientId, hashes) : null) ??
    (hashes && (await findRepeatedEarlier(services, client, hashes)));
  if (repeated !== null) return client.origin.ok ? repeated : client.origin;
  if (isShardFull(services, client)) throw new StorageFault("outage", "SHARD_FULL");
  return attemptCapture(services, capture, client, conflicts);
};

/**
 * Issues a certificate for a form submission and returns once the certificate is in the database or the journal (SPEC Certificate API).
 * Policy captures, audit entries and ledger statements follow in the background.
 *
 * The first attempt uses the resolved client without reading it again. If it fails, the account may be outdated, or the idempotency key may
 * have been used before. Both are then read from the database before an error is returned. If the shard is closed or full, issues the
 * certificate in another shard. Throws a StorageFault of kind `outage` if no shard has room.
 *
 * Errors are checked in this order: `invalid_request`, `client_not_found`, `forbidden` (an API key of another business, or a test key for a
 * live client), the errors of `issueCertificate`, `rate_limited`. If a certificate was issued with the idempotency key within the last day,
 * returns its capture receipt instead, after checking for `origin_not_verified` and `idempotency_conflict`. Returns `storage_unavailable`
 * if concurrent changes made every attempt fail.
 */
export const captureConsent = async (services: CertificateWriteDependencies, request: CaptureRequest): Promise<Result<CaptureResult>> => {
  const parsed = parseSubmission(request.submission);
  if (!parsed.ok) return parsed;
  if (request.client === null) return refuse("client_not_found");
  const { id: clientId, known, origin } = request.client;
  const hashes = hashIdempotencyKey(request, clientId, parsed.value);
  const capture: ParsedCapture = { clientId, request, parsed: parsed.value, idempotencyHashes: hashes };

  const isPermitted = canActForClient(request.caller, known.account);
  const client = origin.ok && isPermitted ? await continueInShardWithRoom(services, request.client, request.originHeader) : request.client;
  // Search the earlier shards first, because the first attempt would not notice that the key was used there.
  const isKeyUsed = hashes !== null && (await findRepeatedEarlier(services, client, hashes)) !== null;
  const conflicts: Conflicts = { isAccountOutdated: false, idTakenIn: null };
  const conflictTests = [isAccountConflict, isCertIdTaken];
  if (!isShardFull(services, client) && isPermitted && !isKeyUsed) {
    const attempt = await retryOnConflict(conflictTests, () => attemptCapture(services, capture, client, conflicts), 1);
    // The first attempt returns `idempotency_conflict` only if the journal contains the key, so there is no need to try again.
    if (attempt.ok || attempt.code === "idempotency_conflict") return attempt;
  }
  return retryOnConflict(conflictTests, () => captureWithCurrentAccount(services, capture, client.shard, conflicts));
};
