// Recognizes submissions that repeat an idempotency key. The database stores no response for them: the certificate's ID is derived from the
// key, and the response is built again from the certificate.
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import type { ParsedSubmission } from "../../../core/certificates/submission.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { buildCertId, type CertId, type ClientId, type ShardId } from "../../../core/ids.ts";
import { journalOfClient } from "../../../core/intake/journal-name.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { listEarlierShards } from "../../../core/shards/issuing.ts";
import { dayMs, hourMs, toDayNumber } from "../../../core/time.ts";
import { findIssuance, type StoredIssuance } from "../../../storage/certificates.ts";
import { withDeadline } from "../../../storage/database.ts";
import { idempotencyKeyHash, type IdempotencyHashes } from "../../../storage/idempotency.ts";
import { runIsolated } from "../../log.ts";
import { chooseIntakeTarget } from "../intake/choose-intake-target.ts";
import { findOrPlace } from "../intake/find-journaled.ts";
import type { CaptureRequest } from "./capture-request.ts";
import { buildCaptureReceipt, type CaptureResult } from "./commit-issuance.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { deriveManageToken } from "./manage-token.ts";
import type { SubmissionClient } from "./resolve-submission-client.ts";

/**
 * Hashes the parts of a submission that a retry must repeat exactly: the client, the fields, the disclosure, the recipients and answers,
 * the purpose and the page URL.
 */
const hashSubmission = (
  submission: Pick<StoredIssuance, "clientId" | "fields" | "disclosureText" | "entities" | "answered" | "purpose" | "pageUrl">,
): string =>
  sha256Hex(
    toCanonicalJson({
      client_id: submission.clientId,
      fields: [...submission.fields].sort(([a], [b]) => (a < b ? -1 : 1)),
      disclosure_text: submission.disclosureText,
      entities: submission.entities,
      answered: submission.answered && [submission.answered.accepted, submission.answered.rejected],
      purpose: submission.purpose,
      page_url: submission.pageUrl,
    }),
  );

/**
 * Hashes the request's idempotency key and the content that a retry must repeat. Returns null if the request has no key. Without an API
 * key, idempotency keys are scoped to the client and the Origin header. Client IDs are public, so another site must not be able to use the
 * keys of the client's site.
 */
export const hashIdempotencyKey = (
  { idempotencyKey, caller, originHeader, submission }: CaptureRequest,
  clientId: ClientId,
  { fields, recipients, purpose }: ParsedSubmission,
): IdempotencyHashes | null => {
  if (idempotencyKey === null) return null;
  const owner = caller === null ? `${clientId} ${originHeader?.toLowerCase() ?? ""}` : caller.keyId;
  const { disclosureText, pageUrl } = submission;
  const { entities, answered = null } = recipients;
  return {
    keyHash: idempotencyKeyHash(owner, "POST /v1/consent", idempotencyKey),
    bodyHash: hashSubmission({ clientId, fields, disclosureText, entities, answered, purpose, pageUrl }),
  };
};

type KeyUse = "first" | "today" | "yesterday";

/**
 * Derives the ID of the certificate that is issued with the key. `first` is for the key's first use. If a key is used again more than a day
 * later, the ID also depends on the day of that use.
 */
export const buildKeyedId = async (
  { vault, clock }: CertificateWriteDependencies,
  shard: ShardId,
  clientId: ClientId,
  keyHash: string,
  use: KeyUse,
): Promise<CertId> => {
  const today = toDayNumber(clock());
  const suffix = { first: "", today: ` ${today}`, yesterday: ` ${today - 1}` }[use];
  return buildCertId(shard, clientId, await vault.certificateBytes(keyHash + suffix));
};

/**
 * Finds the certificate that was issued with this idempotency key in the shard within the last day. Returns its capture receipt,
 * `idempotency_conflict` if the first request had different content, or null if there is no such certificate. If
 * `mayBeJournaled` is set, first moves a certificate that is still in the journal to the database.
 */
export const findRepeated = async (
  services: CertificateWriteDependencies,
  shard: ShardId,
  clientId: ClientId,
  { keyHash, bodyHash }: IdempotencyHashes,
  mayBeJournaled = false,
): Promise<Result<CaptureResult, "idempotency_conflict"> | null> => {
  const uses = ["first", "today", "yesterday"] as const;
  const ids = await Promise.all(uses.map((use) => buildKeyedId(services, shard, clientId, keyHash, use)));
  const find = () => findIssuance(services.shards.get(shard), services.vault, ids, services.clock() - dayMs);
  const stored = await (mayBeJournaled ? findOrPlace(services, ids[0] as CertId, find) : find());
  if (stored === null) return null;
  if (hashSubmission(stored) !== bodyHash) return refuse("idempotency_conflict");
  return ok({ receipt: buildCaptureReceipt(services, stored, await deriveManageToken(services, stored)), isReplayed: true });
};

/**
 * Added to the one-day period when searching earlier shards. An isolate can journal a submission with a copy of the account that is up to
 * two hours old. A certificate can therefore appear in an earlier shard after the account has moved to another shard.
 */
const searchMarginMs = 3 * hourMs;

const earlierShardTimeoutMs = 300; // the current shard can issue the certificate, so do not wait long for an earlier one

/**
 * Searches the account's earlier shards that may have issued a certificate with this key within the last day. If it may still be in a
 * shard's journal, first moves it to the database. Skips a shard that does not respond, because the submission must not wait for it.
 */
export const findRepeatedEarlier = async (
  services: CertificateWriteDependencies,
  { id: clientId, known }: SubmissionClient,
  hashes: IdempotencyHashes,
): Promise<Result<CaptureResult, "idempotency_conflict"> | null> => {
  const findIn = async (shard: ShardId) => {
    const mayBeJournaled = (await chooseIntakeTarget(services, journalOfClient(shard, clientId))) === "journal";
    return findRepeated(services, shard, clientId, hashes, mayBeJournaled);
  };
  const found = await Promise.all(
    listEarlierShards(known.account, services.clock() - dayMs - searchMarginMs).map((shard) =>
      runIsolated(services, "earlier shard", () => withDeadline(() => findIn(shard), earlierShardTimeoutMs)),
    ),
  );
  return found.find((each) => each !== null && each !== undefined) ?? null;
};
