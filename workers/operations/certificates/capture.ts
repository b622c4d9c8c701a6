// POST /v1/consent: one form submission becomes a certificate. Load, decide, commit; nothing slow before the answer.
import type { Environment } from "../../../core/access/entitlement.ts";
import { rulesFor, verifyOrigin } from "../../../core/access/origins.ts";
import type { WindowState } from "../../../core/access/window.ts";
import { base64UrlOf } from "../../../core/bytes.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { keptReceiptText, readKeptReceipt, type CaptureReceipt } from "../../../core/certificates/capture-receipt.ts";
import type { CaptureCircumstances, Submission } from "../../../core/certificates/certificate.ts";
import { issueCertificate, type Issued } from "../../../core/certificates/issue.ts";
import { comparableSubject } from "../../../core/certificates/matching.ts";
import { readSubmission, type ReadSubmission } from "../../../core/certificates/submission.ts";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { homeOfId, newId, type BusinessId, type CertId, type ClientId } from "../../../core/ids.ts";
import { captureSharedMs } from "../../../core/policies/snapshot.ts";
import { ok, refuse, refusedWhere, type Result } from "../../../core/result.ts";
import { dayMs } from "../../../core/time.ts";
import { capturingClient, type CapturingClient } from "../../../storage/accounts.ts";
import { isDayFull, isNotWarned, noteWarning } from "../../../storage/client-days.ts";
import { insertIssuance, isOutdatedRevision } from "../../../storage/certificates.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../../storage/idempotency.ts";
import { ownerMails } from "../../../storage/owners.ts";
import { failingAlone } from "../../log.ts";
import type { Counters, Memories, Phones, Proofs, Runtime, Schedules, Stores } from "../../services.ts";

const rootSaltBytes = 32;
const manageTokenBytes = 32;

export interface CaptureRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureCircumstances;
  /** Header Idempotency-Key or body submission_id; they mean the same. */
  readonly idempotencyKey: string | null;
  /** Whose API key came with the request; null for a visitor's browser. */
  readonly caller: { readonly keyId: string; readonly businessId: BusinessId; readonly environment: Environment } | null;
}

export interface Captured {
  readonly receipt: CaptureReceipt;
  readonly replayed: boolean;
}

/** What makes two submissions the same one: all that is sealed about the person and the text, nothing that a retry changes. */
const submissionHash = (clientId: ClientId, submission: Submission, read: ReadSubmission): string =>
  sha256Hex(
    canonicalJson({
      client_id: clientId,
      fields: [...read.fields].sort(([a], [b]) => (a < b ? -1 : 1)),
      disclosure_text: submission.disclosureText,
      entities: read.recipients.entities,
      answered: read.recipients.answered === undefined ? null : [read.recipients.answered.accepted, read.recipients.answered.rejected],
      purpose: read.purpose,
      page_url: submission.pageUrl,
    }),
  );

/** An address without its query and fragment, which can name a person. */
const withoutQuery = (pageUrl: string): string => {
  const url = new URL(pageUrl);
  return url.origin + url.pathname;
};

const receiptOf = (services: Runtime, { certificate }: Issued, manageToken: string): CaptureReceipt => {
  const verifyUrl = verifyUrlOf(services.config.verifyUrl, certificate.id);
  return {
    certId: certificate.id,
    fingerprint: certificate.fingerprint,
    issuedAt: certificate.issuedAt,
    verifyUrl,
    environment: certificate.environment,
    manageUrl: `${verifyUrl}#m=${manageToken}`,
    answered: certificate.recipients.answered ?? null,
  };
};

/** The client id stands in every page's source: without an API key a key is the site's, so that nobody elsewhere meets its answers. */
const keyOwner = ({ caller, originHeader }: CaptureRequest, clientId: ClientId): string =>
  caller === null ? `${clientId} ${originHeader?.toLowerCase() ?? ""}` : caller.keyId;

interface AnswerKey {
  readonly keyHash: string;
  readonly bodyHash: string;
}

/**
 * The owners hear once a day and client that submissions without an API key come close to the day's limit: beyond it their forms get no
 * certificates. Of any number at once, one writes the mails. If it fails, the next submission calls for it again.
 */
const warnNearLimit = async (
  services: Runtime & Stores,
  db: Database,
  businessId: BusinessId,
  { clientId, issuedAt }: Issued["certificate"],
): Promise<void> => {
  const now = services.clock();
  const day = Math.floor(issuedAt / dayMs);
  const data = { client_id: clientId, until: (day + 1) * dayMs };
  const onlyIf = isNotWarned({ clientId, day });
  const mails = await ownerMails(db, services.vault, businessId, { template: "client_limit_near", data, now, onlyIf });
  await batch(db, [...mails, noteWarning(db, { clientId, day }, now)]);
};

/** Writes the issuance and everything that follows from it as one batch: the only round trip of a usual submission. */
const commitIssuance = async (
  services: Runtime & Stores & Proofs & Phones & Schedules,
  db: Database,
  business: CapturingClient,
  issued: Issued,
  answerKey: AnswerKey | null,
  countsForDay: boolean,
): Promise<CaptureReceipt> => {
  const { certificate } = issued;
  const comparable = comparableSubject(certificate.fields, business.country, services.toE164);
  const manageToken = base64UrlOf(services.random(manageTokenBytes));
  const receipt = receiptOf(services, issued, manageToken);
  const [signature, emailIndex, phoneIndex] = await Promise.all([
    services.signer.sign(certificate.canonical),
    comparable.email === null ? null : services.vault.blindIndex("email", comparable.email),
    comparable.phone === null ? null : services.vault.blindIndex("phone", comparable.phone),
  ]);
  const issuance = await insertIssuance(db, services.vault, issued, {
    revision: business.revision,
    signature: { kid: services.signer.kid, alg: "Ed25519", value: signature },
    manageTokenHash: sha256Hex(manageToken),
    emailIndex,
    phoneIndex,
    policiesNotBefore: certificate.issuedAt - captureSharedMs,
    policyOrigin: new URL(String(certificate.evidence.origin_reported)).origin,
    policyPage: withoutQuery(String(certificate.evidence.page_url)),
    dayLimits: countsForDay ? services.config.dayLimits : null,
  });
  const answer = { status: 201, response: keptReceiptText(receipt), certId: certificate.id, now: certificate.issuedAt };
  const answers = answerKey === null ? [] : await insertAnswer(db, services.vault, { ...answerKey, ...answer });
  const [counted, , , , , , policyRequests] = await commit(db, services, [...issuance, ...answers], [issued.fact]);
  if (policyRequests.length > 0) services.scheduleRelay();
  if (counted[0]?.isNear === true)
    services.afterAnswer(() => failingAlone(services, "warn-near-limit", () => warnNearLimit(services, db, business.id, certificate)));
  return receipt;
};

/** What a submission is, whatever account it is decided on. */
interface Submitted {
  readonly clientId: ClientId;
  readonly request: CaptureRequest;
  readonly read: ReadSubmission;
  readonly answerKey: AnswerKey | null;
}

/** Decides on the account as given. Throws where that moved on, or the key holds an answer: then both are read, and it is decided again. */
const attemptCapture = async (
  services: Runtime & Stores & Proofs & Phones & Schedules,
  db: Database,
  { clientId, request, read, answerKey }: Submitted,
  business: CapturingClient,
): Promise<Result<Captured>> => {
  const issued = issueCertificate({
    business,
    clientId,
    submission: request.submission,
    read,
    originHeader: request.originHeader,
    circumstances: request.circumstances,
    rules: rulesFor(services.config, business),
    now: services.clock(),
    certId: newId("cc_", homeOfId(clientId), services.random) as CertId,
    rootSalt: services.random(rootSaltBytes),
  });
  if (!issued.ok) return issued;
  return commitIssuance(services, db, business, issued.value, answerKey, request.caller === null).then(
    (receipt) => ok({ receipt, replayed: false }),
    refusedWhere(isDayFull, "rate_limited", "This client has had as many submissions without an API key as a day may bring."),
  );
};

/** Counts a submission without an API key toward its client; null where its Origin is not the client's, so that it counts for its sender alone. */
export const countForClient = async (
  services: Runtime & Stores & Memories & Counters,
  clientId: ClientId,
  originHeader: string | null,
): Promise<WindowState | null> => {
  const business = services.rememberedClients.get(clientId) ?? (await capturingClient(services.homes.of(clientId), clientId));
  if (business === null || !verifyOrigin(originHeader, business.domains, rulesFor(services.config, business)).ok) return null;
  services.rememberedClients.set(clientId, business);
  return services.takeByAddress("CONSENT_PER_CLIENT", clientId);
};

/** A visitor needs no key; a key opens its own business's clients, and a test key only the sandbox ones. */
const maySpeakFor = (caller: CaptureRequest["caller"], client: CapturingClient): boolean =>
  caller === null || (caller.businessId === client.id && (caller.environment === "live" || client.environment === "sandbox"));

/**
 * Seals one form submission into a certificate (SPEC, POST /v1/consent). Durable before it is answered; the policies, the
 * audit chain and the ledger follow from the outboxes. A remembered account may only say yes (the insert checks it
 * again); whatever else it says is asked once more of the database.
 * Refuses, in this order: invalid_request, client_not_found, forbidden (a key of another business, or a test key for a
 * live client), then origin_not_verified and idempotency_conflict where an answer is kept, then as `issueCertificate`.
 */
export const captureConsent = async (
  services: Runtime & Stores & Memories & Proofs & Phones & Schedules,
  request: CaptureRequest,
): Promise<Result<Captured>> => {
  const { clientId, submission } = request;
  const read = readSubmission(submission);
  if (!read.ok) return read;
  if (clientId === null) return refuse("client_not_found");
  const db = services.homes.of(clientId);
  const answerKey: AnswerKey | null =
    request.idempotencyKey === null
      ? null
      : {
          keyHash: idempotencyKeyHash(keyOwner(request, clientId), "POST /v1/consent", request.idempotencyKey),
          bodyHash: submissionHash(clientId, submission, read.value),
        };

  const submitted = { clientId, request, read: read.value, answerKey };
  const outdated = [isOutdatedRevision, isTakenKey];
  const remembered = services.rememberedClients.get(clientId);
  if (remembered !== undefined && maySpeakFor(request.caller, remembered)) {
    const attempt = await retrying(outdated, () => attemptCapture(services, db, submitted, remembered), 1);
    if (attempt.ok) return attempt;
  }
  return retrying(outdated, async () => {
    const [business, kept] = await Promise.all([
      capturingClient(db, clientId),
      answerKey === null ? null : keptAnswer(db, services.vault, answerKey.keyHash, services.clock()),
    ]);
    if (business === null) {
      services.rememberedClients.delete(clientId);
      return refuse("client_not_found");
    }
    services.rememberedClients.set(clientId, business);
    if (!maySpeakFor(request.caller, business)) return refuse("forbidden");
    if (kept === null) return attemptCapture(services, db, submitted, business);
    const origin = verifyOrigin(request.originHeader, business.domains, rulesFor(services.config, business));
    if (!origin.ok) return origin;
    if (kept.bodyHash !== answerKey?.bodyHash) return refuse("idempotency_conflict");
    return ok({ receipt: readKeptReceipt(kept.response), replayed: true });
  });
};
