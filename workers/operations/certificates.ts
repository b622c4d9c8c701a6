// Certificates: capture, verify, list, read. Load, decide, commit; no HTTP here, and nothing slow before the answer.
import type { Principal } from "../../core/access/principal.ts";
import { base64UrlOf } from "../../core/bytes.ts";
import { canonicalJson, type Json } from "../../core/canonical-json.ts";
import type { CaptureCircumstances, CertificateStatus, Submission } from "../../core/certificates/certificate.ts";
import { consentReceipt, type ReceiptFormat } from "../../core/certificates/consent-receipt.ts";
import { issueCertificate, type Issued, type IssueRefusal } from "../../core/certificates/issue.ts";
import { comparablePhone, comparableSubject } from "../../core/certificates/matching.ts";
import type { OpenedCertificate, PublishedCertificate } from "../../core/certificates/published.ts";
import { readSubmission, type ReadSubmission } from "../../core/certificates/submission.ts";
import { detailView, listRowView, verifyUrlOf, type DetailParts } from "../../core/certificates/views.ts";
import type { FactType } from "../../core/facts.ts";
import { sha256Hex } from "../../core/hash.ts";
import type { Environment } from "../../core/access/entitlement.ts";
import { homeOfId, newId, type BusinessId, type CertId, type ClientId } from "../../core/ids.ts";
import { comparableMailbox } from "../../core/mailbox.ts";
import { lookSharedMs } from "../../core/policies/snapshot.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { isoOf, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { businessCountry, capturingClient, type CapturingClient } from "../../storage/accounts.ts";
import { certificatePage } from "../../storage/certificate-list.ts";
import { certificateById, insertIssuance, isOutdatedRevision, openedCertificate } from "../../storage/certificates.ts";
import { commit } from "../../storage/commit.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, keptAnswer } from "../../storage/idempotency.ts";
import { policyText } from "../../storage/policies.ts";
import { viewTrail } from "../../storage/views.ts";
import { kindOfError } from "../log.ts";
import type { Services } from "../services.ts";
import { attestedCertificate } from "./attestations.ts";
import { viewContext } from "./view-context.ts";

type JsonObject = { readonly [key: string]: Json };

const rootSaltBytes = 32;
const manageTokenBytes = 32;
const shownViews = 100;

export interface CaptureRequest {
  /** Null when what came is not spelt as a client id. */
  readonly clientId: ClientId | null;
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureCircumstances;
  /** Header Idempotency-Key or body submission_id; they mean the same. */
  readonly idempotencyKey: string | null;
  /** Whose API key came with the request; null for a visitor's browser. */
  readonly caller: { readonly businessId: BusinessId; readonly environment: Environment } | null;
}

export interface Captured {
  /** The 201's data. */
  readonly receipt: JsonObject;
  readonly replayed: boolean;
}

export type CaptureRefusal =
  | IssueRefusal
  | "invalid_request"
  | "client_not_found"
  | "forbidden"
  | "idempotency_conflict"
  | "storage_unavailable";

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

const receiptOf = (services: Services, issued: Issued, manageToken: string): JsonObject => {
  const { certificate } = issued;
  const verifyUrl = verifyUrlOf(services.config.verifyUrl, certificate.id);
  const { answered } = certificate.recipients;
  return {
    cert_id: certificate.id,
    fingerprint: certificate.fingerprint,
    issued_at: isoOf(certificate.issuedAt),
    verify_url: verifyUrl,
    status: "active",
    environment: certificate.environment,
    manage_url: `${verifyUrl}#m=${manageToken}`,
    ...(answered && { entities_accepted: answered.accepted, entities_rejected: answered.rejected }),
  };
};

interface AnswerKey {
  readonly keyHash: string;
  readonly bodyHash: string;
}

/** Writes the issuance and everything that follows from it as one batch: the only round trip of a usual submission. */
const commitIssuance = async (
  services: Services,
  db: Database,
  business: CapturingClient,
  issued: Issued,
  answerKey: AnswerKey | null,
): Promise<JsonObject> => {
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
    policiesNotBefore: certificate.issuedAt - lookSharedMs,
    policyPage: withoutQuery(String(certificate.evidence.page_url)),
  });
  const answer = { status: 201, response: JSON.stringify(receipt), now: certificate.issuedAt };
  const answers = answerKey === null ? [] : await insertAnswer(db, services.vault, { ...answerKey, ...answer });
  const store = { db, vault: services.vault, ledgerId: services.config.ledger.id };
  const [, , , policyRequests] = await commit(store, [...issuance, ...answers], [issued.fact]);
  if (policyRequests.length > 0) services.scheduleRelay();
  if (business.emitsIssued) services.scheduleEvents(business.id);
  services.scheduleFollowUp();
  return receipt;
};

type Attempt = Result<Captured, CaptureRefusal> | "outdated";

/** Decides on the account as given. `outdated`: the account moved on, or the key holds an answer; read both, then decide again. */
const attemptCapture = async (
  services: Services,
  db: Database,
  clientId: ClientId,
  request: CaptureRequest,
  read: ReadSubmission,
  business: CapturingClient,
  answerKey: AnswerKey | null,
): Promise<Attempt> => {
  const issued = issueCertificate({
    business,
    clientId,
    submission: request.submission,
    read,
    originHeader: request.originHeader,
    circumstances: request.circumstances,
    rules: {
      allowsLocalHttp: services.config.environment === "development",
      allowsSandboxLocalhost: business.environment === "sandbox",
    },
    now: services.clock(),
    certId: newId("cc_", homeOfId(clientId), services.random) as CertId,
    rootSalt: services.random(rootSaltBytes),
  });
  if (!issued.ok) return issued;
  try {
    return ok({ receipt: await commitIssuance(services, db, business, issued.value, answerKey), replayed: false });
  } catch (error) {
    if (isOutdatedRevision(error) || isTakenKey(error)) return "outdated";
    throw error;
  }
};

/** A visitor needs no key; a key opens its own business's clients, and a test key only the sandbox ones. */
const maySpeakFor = (caller: CaptureRequest["caller"], client: CapturingClient): boolean =>
  caller === null || (caller.businessId === client.id && (caller.environment === "live" || client.environment === "sandbox"));

const mostReadings = 3; // a change and a twin request can each outdate one reading; more is an account that never rests

/**
 * Seals one form submission into a certificate (SPEC, POST /v1/consent). Durable before it is answered; the policies, the
 * audit chain and the ledger follow from the outboxes. A remembered account may only say yes (the insert checks it
 * again); whatever else it says is asked once more of the database.
 * Refuses, in this order: invalid_request, client_not_found, forbidden (a key of another business, or a test key for a
 * live client), idempotency_conflict, then as `issueCertificate`.
 */
export const captureConsent = async (services: Services, request: CaptureRequest): Promise<Result<Captured, CaptureRefusal>> => {
  const { clientId, submission } = request;
  const read = readSubmission(submission);
  if (!read.ok) return read;
  const db = clientId === null ? null : services.homes.of(clientId);
  if (clientId === null || db === null) return refuse("client_not_found");
  const answerKey: AnswerKey | null =
    request.idempotencyKey === null
      ? null
      : {
          keyHash: idempotencyKeyHash(clientId, "POST /v1/consent", request.idempotencyKey),
          bodyHash: submissionHash(clientId, submission, read.value),
        };

  const remembered = services.rememberedClients.get(clientId);
  if (remembered !== null && maySpeakFor(request.caller, remembered)) {
    const attempt = await attemptCapture(services, db, clientId, request, read.value, remembered, answerKey);
    if (attempt !== "outdated" && attempt.ok) return attempt;
  }
  for (let reading = 1; reading <= mostReadings; reading += 1) {
    const [business, kept] = await Promise.all([
      capturingClient(db, clientId),
      answerKey === null ? null : keptAnswer(db, services.vault, answerKey.keyHash, services.clock()),
    ]);
    if (business === null) {
      services.rememberedClients.forget(clientId);
      return refuse("client_not_found");
    }
    services.rememberedClients.remember(clientId, business);
    if (!maySpeakFor(request.caller, business)) return refuse("forbidden");
    if (kept !== null && kept.bodyHash !== answerKey?.bodyHash) return refuse("idempotency_conflict");
    if (kept !== null) return ok({ receipt: JSON.parse(kept.response) as JsonObject, replayed: true });
    const attempt = await attemptCapture(services, db, clientId, request, read.value, business, answerKey);
    if (attempt !== "outdated") return attempt;
  }
  return refuse("storage_unavailable");
};

/** Refuses `cert_not_found`. Needs no credential and shows nothing personal. */
export const verifyCertificate = async (services: Services, certId: CertId): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const db = services.homes.of(certId);
  const certificate = db === null ? null : await certificateById(db, certId);
  if (certificate === null) return refuse("cert_not_found");
  return ok(await attestedCertificate(services.platform, certificate));
};

/** The certificate as a receipt that other systems read. Refuses `cert_not_found`. */
export const certificateReceipt = async (
  services: Services,
  certId: CertId,
  format: ReceiptFormat,
): Promise<Result<JsonObject, "cert_not_found">> => {
  const db = services.homes.of(certId);
  const certificate = db === null ? null : await certificateById(db, certId);
  if (db === null || certificate === null) return refuse("cert_not_found");
  const country = await businessCountry(db, certificate.businessId);
  if (country === null) throw new Error("receipt: the certificate's business is not there");
  return ok(consentReceipt(format, { certificate, country, context: viewContext(services) }));
};

export interface ListQuery {
  readonly page: number;
  readonly perPage: number;
  readonly status: CertificateStatus | null;
  readonly subjectEmail: string | null;
  readonly subjectPhone: string | null;
  readonly q: string | null;
  readonly originDomain: string | null;
  readonly entity: string | null;
  readonly from: Instant | null;
  readonly to: Instant | null;
}

/** The principal's own certificates, newest first, masked; with the exact total. */
export const listCertificates = async (services: Services, principal: Principal, query: ListQuery): Promise<JsonObject> => {
  const db = services.homes.of(principal.business.id);
  if (db === null) throw new Error("list: the business has no home");
  const email = query.subjectEmail === null ? null : comparableMailbox(query.subjectEmail);
  // An address that is none is on no certificate; a random index finds nothing and costs what a miss costs.
  const emailIndex = query.subjectEmail === null ? null : await services.vault.blindIndex("email", email ?? "");
  const phoneIndex =
    query.subjectPhone === null
      ? null
      : await services.vault.blindIndex("phone", comparablePhone(query.subjectPhone, principal.business.country, services.toE164));
  const context = viewContext(services);
  const { certificates, total } = await certificatePage(db, {
    businessId: principal.business.id,
    environment: principal.environment,
    filter: {
      status: query.status,
      emailIndex,
      phoneIndex,
      purposePart: query.q,
      originDomain: query.originDomain,
      entity: query.entity,
      from: query.from,
      to: query.to,
    },
    page: query.page,
    perPage: query.perPage,
  });
  return {
    certs: certificates.map((row) => listRowView(row, context)),
    total,
    page: query.page,
    per_page: query.perPage,
  };
};

/** Opens a certificate of the principal for reading, and puts that reading into the business's audit chain first. */
export const openForReading = async (
  services: Services,
  principal: Principal,
  certId: CertId,
  type: FactType,
  payload: JsonObject,
): Promise<Result<Omit<DetailParts, "entry">, "cert_not_found">> => {
  const db = services.homes.of(certId);
  const opened: OpenedCertificate | null =
    db === null
      ? null
      : await openedCertificate(db, services.vault, { certId, businessId: principal.business.id, environment: principal.environment });
  if (db === null || opened === null) return refuse("cert_not_found");
  const [certificate, views, texts] = await Promise.all([
    attestedCertificate(services.platform, opened.certificate),
    viewTrail(db, services.vault, certId, shownViews),
    Promise.all(
      opened.certificate.policies.map(async (policy) => [policy.contentHash, await policyText(services.kv, policy.contentHash)] as const),
    ),
    commit(
      { db, vault: services.vault, ledgerId: services.config.ledger.id },
      [],
      [
        {
          type,
          entityType: "certificate",
          entityId: certId,
          at: services.clock(),
          chains: [opened.chain],
          actor: { kind: "api_key", id: principal.keyId },
          payload,
        },
      ],
    ),
  ]);
  services.scheduleFollowUp();
  return ok({
    opened: { ...opened, certificate },
    views,
    policyTexts: new Map(texts),
    context: viewContext(services),
  });
};

/** Where the issuance stands in the audit chain; null until it does, and while the log does not answer. */
const issuedEntry = async (services: Services, { chain, issuedEntry: row }: OpenedCertificate): Promise<DetailParts["entry"]> => {
  if (row === null) return null;
  try {
    return (await services.auditLog(chain.shard).entriesOf(chain.tag, [row]))[0] ?? null;
  } catch (error) {
    services.log.fault({ at: "audit", error: kindOfError(error) });
    return null;
  }
};

/** The owner's detail: decrypted subject and evidence. Refuses `cert_not_found` for unknown and foreign ids alike. */
export const readCertificate = async (
  services: Services,
  principal: Principal,
  certId: CertId,
): Promise<Result<JsonObject, "cert_not_found">> => {
  const parts = await openForReading(services, principal, certId, "certificate.subject_read", {});
  if (!parts.ok) return parts;
  return ok(detailView({ ...parts.value, entry: await issuedEntry(services, parts.value.opened) }));
};
