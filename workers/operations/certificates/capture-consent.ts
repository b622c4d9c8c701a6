// POST /v1/consent: one form submission becomes a certificate. Load, decide, commit; nothing slow before the answer.
import type { Environment } from "../../../core/access/entitlement.ts";
import { getOriginRules, verifyOrigin } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { parseStoredReceipt, type CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { Submission, CaptureContext } from "../../../core/certificates/certificate.ts";
import { issueCertificate } from "../../../core/certificates/issue.ts";
import { parseSubmission, type ParsedSubmission } from "../../../core/certificates/submission.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { generateId, shardOfId, type ClientId, type BusinessId, type CertId } from "../../../core/ids.ts";
import { ok, refuseWhen, refuse, type Result } from "../../../core/result.ts";
import { findIssuingClient, type IssuingClient } from "../../../storage/accounts.ts";
import { isOutdatedRevision } from "../../../storage/certificates.ts";
import { isDailyLimitReached } from "../../../storage/client-usage.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { idempotencyKeyHash, isIdempotencyKeyTaken, findIdempotentResponse } from "../../../storage/idempotency.ts";
import type { CertificateWriteDependencies } from "./dependencies.ts";
import { rootSaltBytes, commitIssuance } from "./commit-issuance.ts";

export interface CaptureRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureContext;
  /** Header Idempotency-Key or body submission_id; they mean the same. */
  readonly idempotencyKey: string | null;
  /** Whose API key came with the request; null for a visitor's browser. */
  readonly caller: { readonly keyId: string; readonly businessId: BusinessId; readonly environment: Environment } | null;
}

export interface CaptureResult {
  readonly receipt: CaptureReceipt;
  readonly replayed: boolean;
}

/** What makes two submissions the same one: all that is sealed about the person and the text, nothing that a retry changes. */
const hashSubmission = (clientId: ClientId, submission: Submission, read: ParsedSubmission): string =>
  sha256Hex(
    toCanonicalJson({
      client_id: clientId,
      fields: [...read.fields].sort(([a], [b]) => (a < b ? -1 : 1)),
      disclosure_text: submission.disclosureText,
      entities: read.recipients.entities,
      answered: read.recipients.answered === undefined ? null : [read.recipients.answered.accepted, read.recipients.answered.rejected],
      purpose: read.purpose,
      page_url: submission.pageUrl,
    }),
  );

/** The client id stands in every page's source: without an API key a key is the site's, so that nobody elsewhere meets its answers. */
const getIdempotencyKeyOwner = ({ caller, originHeader }: CaptureRequest, clientId: ClientId): string =>
  caller === null ? `${clientId} ${originHeader?.toLowerCase() ?? ""}` : caller.keyId;

export interface IdempotencyHashes {
  readonly keyHash: string;
  readonly bodyHash: string;
}

/** What a submission is, whatever account it is decided on. */
interface ParsedCapture {
  readonly clientId: ClientId;
  readonly request: CaptureRequest;
  readonly read: ParsedSubmission;
  readonly answerKey: IdempotencyHashes | null;
}

/** Decides on the account as given. Throws where that moved on, or the key holds an answer: then both are read, and it is decided again. */
const attemptCapture = async (
  services: CertificateWriteDependencies,
  db: Database,
  { clientId, request, read, answerKey }: ParsedCapture,
  business: IssuingClient,
): Promise<Result<CaptureResult>> => {
  const issued = issueCertificate({
    business,
    clientId,
    submission: request.submission,
    read,
    originHeader: request.originHeader,
    circumstances: request.circumstances,
    rules: getOriginRules(services.config, business),
    now: services.clock(),
    certId: generateId("cc_", shardOfId(clientId), services.random) as CertId,
    rootSalt: services.random(rootSaltBytes),
  });
  if (!issued.ok) return issued;
  return commitIssuance(services, db, business, issued.value, answerKey, request.caller === null).then(
    (receipt) => ok({ receipt, replayed: false }),
    refuseWhen(isDailyLimitReached, "rate_limited", "This client has had as many submissions without an API key as a day may bring."),
  );
};

/** A visitor needs no key; a key opens its own business's clients, and a test key only the sandbox ones. */
const canActForClient = (caller: CaptureRequest["caller"], client: IssuingClient): boolean =>
  caller === null || (caller.businessId === client.id && (caller.environment === "live" || client.environment === "sandbox"));

/**
 * Seals one form submission into a certificate (SPEC, POST /v1/consent). Durable before it is answered; the policies, the
 * audit chain and the ledger follow from the outboxes. A remembered account may only say yes (the insert checks it
 * again); whatever else it says is asked once more of the database.
 * Refuses, in this order: invalid_request, client_not_found, forbidden (a key of another business, or a test key for a
 * live client), then origin_not_verified and idempotency_conflict where an answer is kept, then as `issueCertificate`.
 */
export const captureConsent = async (services: CertificateWriteDependencies, request: CaptureRequest): Promise<Result<CaptureResult>> => {
  const { clientId, submission } = request;
  const read = parseSubmission(submission);
  if (!read.ok) return read;
  if (clientId === null) return refuse("client_not_found");
  const db = services.shards.forId(clientId);
  const answerKey: IdempotencyHashes | null =
    request.idempotencyKey === null
      ? null
      : {
          keyHash: idempotencyKeyHash(getIdempotencyKeyOwner(request, clientId), "POST /v1/consent", request.idempotencyKey),
          bodyHash: hashSubmission(clientId, submission, read.value),
        };

  const submitted = { clientId, request, read: read.value, answerKey };
  const outdated = [isOutdatedRevision, isIdempotencyKeyTaken];
  const remembered = services.cachedClients.get(clientId);
  if (remembered !== undefined && canActForClient(request.caller, remembered)) {
    const attempt = await retryOnConflict(outdated, () => attemptCapture(services, db, submitted, remembered), 1);
    if (attempt.ok) return attempt;
  }
  return retryOnConflict(outdated, async () => {
    const [business, kept] = await Promise.all([
      findIssuingClient(db, clientId),
      answerKey === null ? null : findIdempotentResponse(db, services.vault, answerKey.keyHash, services.clock()),
    ]);
    if (business === null) {
      services.cachedClients.delete(clientId);
      return refuse("client_not_found");
    }
    services.cachedClients.set(clientId, business);
    if (!canActForClient(request.caller, business)) return refuse("forbidden");
    if (kept === null) return attemptCapture(services, db, submitted, business);
    const origin = verifyOrigin(request.originHeader, business.domains, getOriginRules(services.config, business));
    if (!origin.ok) return origin;
    if (kept.bodyHash !== answerKey?.bodyHash) return refuse("idempotency_conflict");
    return ok({ receipt: parseStoredReceipt(kept.response), replayed: true });
  });
};
