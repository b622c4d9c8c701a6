// Implements POST /v1/consent.
import type { Environment } from "../../../core/access/entitlement.ts";
import { storageLimitMessages } from "../../../core/access/storage-limits.ts";
import { getOriginRules } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import type { Submission, CaptureContext } from "../../../core/certificates/certificate.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import { recognizeFields } from "../../../core/certificates/recognized-fields.ts";
import { parseSubmission, type ParsedSubmission } from "../../../core/certificates/submission.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { buildCertId, randomBytesPerId, type BusinessId, type CertId, type ClientId, type ShardId } from "../../../core/ids.ts";
import { ok, refuseWhen, refuse, type Result } from "../../../core/result.ts";
import { listEarlierShards } from "../../../core/shards/issuing.ts";
import { dayMs, hourMs, type Instant } from "../../../core/time.ts";
import type { IssuingClient } from "../../../storage/accounts.ts";
import { findIssuance, type StoredIssuance } from "../../../storage/certificates.ts";
import { isCertIdTaken, isOutdatedRevision } from "../../../storage/issuances.ts";
import { isDailyLimitReached } from "../../../storage/client-usage.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { withDeadline } from "../../../storage/database.ts";
import { isForeignKeyViolation, StorageFault } from "../../../storage/faults.ts";
import { isStorageLimitReached } from "../../../storage/record-usage.ts";
import { idempotencyKeyHash } from "../../../storage/idempotency.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { buildCaptureReceipt, commitIssuance, rootSaltBytes, type CaptureResult, type IdempotencyHashes } from "./commit-issuance.ts";
import { journalOfClient } from "../../../core/intake/journal-name.ts";
import { deriveManageToken } from "./manage-token.ts";
import { runIsolated } from "../../log.ts";
import { chooseIntakeTarget } from "../intake/choose-intake-target.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import { continueInShardWithRoom, waitForIssuer } from "./issuing-shard.ts";
import { readSubmissionClient, type SubmissionClient } from "./resolve-submission-client.ts";

export interface CaptureRequest {
  /** The result of `resolveSubmissionClient`; null if the client ID is malformed or unknown. */
  readonly client: SubmissionClient | null;
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureContext;
  /** The key from the Idempotency-Key header or from `submission_id` in the body. Both have the same meaning. */
  readonly idempotencyKey: string | null;
  /** The request's API key with its business and environment; null if the request has no API key. */
  readonly caller: { readonly keyId: string; readonly businessId: BusinessId; readonly environment: Environment } | null;
}

/**
 * Hashes the parts of a submission that a retry must repeat exactly: the client, the fields, the disclosure, the recipients and
 * answers, the purpose and the page URL. Excludes everything that can change with a retry.
 */
const hashSubmission = (
  given: Pick<StoredIssuance, "clientId" | "fields" | "disclosureText" | "entities" | "answered" | "purpose" | "pageUrl">,
): string =>
  sha256Hex(
    toCanonicalJson({
      client_id: given.clientId,
      fields: [...given.fields].sort(([a], [b]) => (a < b ? -1 : 1)),
      disclosure_text: given.disclosureText,
      entities: given.entities,
      answered: given.answered && [given.answered.accepted, given.answered.rejected],
      purpose: given.purpose,
      page_url: given.pageUrl,
    }),
  );

/**
 * Without an API key, idempotency keys belong to the client and the Origin. Client IDs are public, so another site must not be able to use
 * the keys of the client's site.
 */
const getIdempotencyKeyOwner = ({ caller, originHeader }: CaptureRequest, clientId: ClientId): string =>
  caller === null ? `${clientId} ${originHeader?.toLowerCase() ?? ""}` : caller.keyId;

/**
 * Returns the texts that the certificate IDs of an idempotency key are derived from. The first text is for the first use of the key. The
 * second and third, for today and yesterday, are for a key that is used again after more than a day.
 */
const listKeyUses = (keyHash: string, now: Instant) => {
  const day = Math.floor(now / dayMs);
  return [keyHash, `${keyHash} ${day}`, `${keyHash} ${day - 1}`] as const;
};

const buildKeyedId = async ({ vault }: CertificateWriteDependencies, shard: ShardId, clientId: ClientId, use: string): Promise<CertId> =>
  buildCertId(shard, clientId, await vault.certificateBytes(use));

/** The parsed parts of a submission that do not depend on the account. */
interface ParsedCapture {
  readonly clientId: ClientId;
  readonly request: CaptureRequest;
  readonly parsed: ParsedSubmission;
  readonly idempotencyHashes: IdempotencyHashes | null;
}

/**
 * Makes one attempt. Throws if the account has changed since it was loaded, or if the certificate's ID already exists. The ID is derived
 * from the idempotency key, so an existing ID means that the key was used before. If the key was used more than a day ago, set `isReused`,
 * so that the ID also depends on the day.
 */
const attemptCapture = async (
  services: CertificateWriteDependencies,
  { clientId, request, parsed, idempotencyHashes }: ParsedCapture,
  client: SubmissionClient,
  isReused: boolean,
): Promise<Result<CaptureResult>> => {
  const { account } = client.known;
  const db = services.shards.get(client.shard);
  const [firstUse, useToday] = idempotencyHashes === null ? [null, null] : listKeyUses(idempotencyHashes.keyHash, services.clock());
  const use = isReused ? useToday : firstUse;
  const certId =
    use === null
      ? buildCertId(client.shard, clientId, services.random(randomBytesPerId))
      : await buildKeyedId(services, client.shard, clientId, use);
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
    const hasApiKey = request.caller !== null;
    return await commitIssuance(services, db, client, issued.value, recognized, idempotencyHashes, hasApiKey);
  } catch (error) {
    if (isDailyLimitReached(error)) return refuse("rate_limited", storageLimitMessages.client);
    const owner = account.environment === "sandbox" ? "sandbox" : "business";
    return refuseWhen(isStorageLimitReached, "rate_limited", storageLimitMessages[owner])(error);
  }
};

/**
 * Finds the certificate that this idempotency key issued in the shard within the last day. Returns its capture receipt again,
 * `idempotency_conflict` if the first request had different content, or null if there is no such certificate.
 */
const findRepeated = async (
  services: CertificateWriteDependencies,
  shard: ShardId,
  clientId: ClientId,
  { keyHash, bodyHash }: IdempotencyHashes,
  find: typeof findIssuance = findIssuance,
): Promise<Result<CaptureResult, "idempotency_conflict"> | null> => {
  const uses = listKeyUses(keyHash, services.clock());
  const ids = await Promise.all(uses.map((use) => buildKeyedId(services, shard, clientId, use)));
  const stored = await find(services.shards.get(shard), services.vault, ids, services.clock() - dayMs);
  if (stored === null) return null;
  if (hashSubmission(stored) !== bodyHash) return refuse("idempotency_conflict");
  return ok({ receipt: buildCaptureReceipt(services, stored, await deriveManageToken(services, stored)), isReplayed: true });
};

/**
 * Added to the one-day period when searching earlier shards. An isolate can journal a submission with a copy of the account that is up to
 * two hours old, so a certificate can appear in an earlier shard after the account has left it.
 */
const searchMarginMs = 3 * hourMs;

/** Lists the account's earlier shards that may contain a certificate from the last day. */
const listRecentShards = (services: CertificateWriteDependencies, { known }: SubmissionClient): readonly ShardId[] =>
  listEarlierShards(known.account, services.clock() - dayMs - searchMarginMs);

const earlierShardTimeoutMs = 300; // the current shard can issue the certificate, so do not wait long for an earlier one

/**
 * Finds the certificate in the account's earlier shards. They can issue nothing more for this version of the account, so a certificate that
 * is not found cannot appear there later. A certificate that is still in a shard's journal is first moved to the database. Skips a shard
 * that does not respond, because the submission must not wait for it.
 */
const findRepeatedEarlier = async (
  services: CertificateWriteDependencies,
  shards: readonly ShardId[],
  clientId: ClientId,
  hashes: IdempotencyHashes,
): Promise<Result<CaptureResult, "idempotency_conflict"> | null> => {
  const findIn = async (shard: ShardId) => {
    const mayBeJournaled = (await chooseIntakeTarget(services, journalOfClient(shard, clientId))) === "journal";
    return findRepeated(services, shard, clientId, hashes, (db, vault, ids, since) => {
      const find = () => findIssuance(db, vault, ids, since);
      return mayBeJournaled ? findOrPlace(services, ids[0] as CertId, find) : find();
    });
  };
  const found = await Promise.all(
    shards.map((shard) => runIsolated(services, "earlier shard", () => withDeadline(() => findIn(shard), earlierShardTimeoutMs))),
  );
  return found.find((each) => each !== null && each !== undefined) ?? null;
};

/** Visitors need no API key. An API key works only for clients of its business, and a test key only for sandbox clients. */
const canActForClient = (caller: CaptureRequest["caller"], account: IssuingClient): boolean =>
  caller === null || (caller.businessId === account.id && (caller.environment === "live" || account.environment === "sandbox"));

/**
 * Issues a certificate for a form submission and returns once the certificate is in the database or the journal (SPEC Certificate API).
 * Policy captures, audit entries and ledger statements follow in the background.
 *
 * The first attempt uses the resolved client without reading it again. If it fails, the account may be outdated or the idempotency key
 * already used, so both are read before an error is returned. If the shard is closed or full, issues the certificate in another shard.
 * Throws a StorageFault of kind `outage` if no shard has room.
 *
 * Errors are checked in this order: `invalid_request`, `client_not_found`, `forbidden` (an API key of another business, or a test key for a
 * live client), the errors of `issueCertificate`, `rate_limited`. If the idempotency key issued a certificate within the last day, returns
 * its capture receipt instead, after checking for `origin_not_verified` and `idempotency_conflict`. Returns `storage_unavailable` if
 * concurrent changes made every attempt fail.
 */
export const captureConsent = async (services: CertificateWriteDependencies, request: CaptureRequest): Promise<Result<CaptureResult>> => {
  const { submission, originHeader } = request;
  const parsed = parseSubmission(submission);
  if (!parsed.ok) return parsed;
  if (request.client === null) return refuse("client_not_found");
  const { id: clientId } = request.client;
  const idempotencyHashes: IdempotencyHashes | null =
    request.idempotencyKey === null
      ? null
      : {
          keyHash: idempotencyKeyHash(getIdempotencyKeyOwner(request, clientId), "POST /v1/consent", request.idempotencyKey),
          bodyHash: hashSubmission({
            clientId,
            fields: parsed.value.fields,
            disclosureText: submission.disclosureText,
            entities: parsed.value.recipients.entities,
            answered: parsed.value.recipients.answered ?? null,
            purpose: parsed.value.purpose,
            pageUrl: submission.pageUrl,
          }),
        };

  const capture = { clientId, request, parsed: parsed.value, idempotencyHashes };
  const isPermitted = canActForClient(request.caller, request.client.known.account);
  const client =
    request.client.origin.ok && isPermitted ? await continueInShardWithRoom(services, request.client, originHeader) : request.client;
  const isFull = ({ shard }: SubmissionClient): boolean =>
    services.intakeState.isFull(shard, services.config.maxShardBytes, services.clock());
  let attemptedIn = client.shard;
  let idTakenIn: ShardId | null = null;
  const isIdConflict = (error: unknown): boolean => {
    if (!isCertIdTaken(error)) return false;
    idTakenIn = attemptedIn;
    return true;
  };
  let isIssuerOutdated = false;
  // For a shard other than the account's, a foreign key constraint fails if that shard has no copy of the account yet.
  const isAccountConflict = (error: unknown): boolean => {
    if (!isOutdatedRevision(error) && !isForeignKeyViolation(error)) return false;
    isIssuerOutdated = true;
    return true;
  };
  const conflicts = [isAccountConflict, isIdConflict];
  // Search the earlier shards first, because the first attempt would not notice that the key was used there.
  const earlierShards = idempotencyHashes === null ? [] : listRecentShards(services, client);
  const isKeyUsed =
    earlierShards.length > 0 &&
    idempotencyHashes !== null &&
    (await findRepeatedEarlier(services, earlierShards, clientId, idempotencyHashes)) !== null;
  if (!isFull(client) && isPermitted && !isKeyUsed) {
    const attempt = await retryOnConflict(conflicts, () => attemptCapture(services, capture, client, false), 1);
    // The first attempt returns `idempotency_conflict` only if the journal contains the key, so there is no need to try again.
    if (attempt.ok || attempt.code === "idempotency_conflict") return attempt;
  }
  return retryOnConflict(conflicts, async () => {
    const [loaded, repeatedHere] = await Promise.all([
      readSubmissionClient(services, clientId, originHeader),
      idempotencyHashes === null ? null : findRepeated(services, client.shard, clientId, idempotencyHashes),
    ]);
    const current = loaded !== null && isIssuerOutdated ? await waitForIssuer(services, loaded, originHeader) : loaded;
    if (current === null) return refuse("client_not_found");
    if (!canActForClient(request.caller, current.known.account)) return refuse("forbidden");
    // The issuing shard must respond. Otherwise, a repeated submission could get a second certificate.
    const findInOtherShards = async (hashes: IdempotencyHashes) =>
      (current.shard === client.shard ? null : await findRepeated(services, current.shard, clientId, hashes)) ??
      findRepeatedEarlier(services, listRecentShards(services, current), clientId, hashes);
    const repeated = repeatedHere ?? (idempotencyHashes === null ? null : await findInOtherShards(idempotencyHashes));
    if (repeated !== null) return current.origin.ok ? repeated : current.origin;
    if (isFull(current)) throw new StorageFault("outage", "SHARD_FULL");
    attemptedIn = current.shard;
    return attemptCapture(services, capture, current, idTakenIn === current.shard);
  });
};
