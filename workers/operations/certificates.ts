// Certificates: capture, verify, list, read, evidence. Load, decide, commit; no HTTP here, and nothing slow before the answer.
import type { Principal } from "../../core/access/principal.ts";
import { base64UrlOf } from "../../core/bytes.ts";
import { canonicalJson, type Json } from "../../core/canonical-json.ts";
import type { CaptureCircumstances, CertificateStatus, Submission } from "../../core/certificates/certificate.ts";
import { issueCertificate, type Issued, type IssueRefusal } from "../../core/certificates/issue.ts";
import { comparablePhone, comparableSubject } from "../../core/certificates/matching.ts";
import type { OpenedCertificate, PublishedCertificate } from "../../core/certificates/published.ts";
import { readSubmission, type ReadSubmission } from "../../core/certificates/submission.ts";
import { detailView, evidenceBundle, listRowView, verifyUrlOf, type DetailParts } from "../../core/certificates/views.ts";
import type { FactType } from "../../core/facts.ts";
import { sha256Hex } from "../../core/hash.ts";
import { homeOfId, newId, type BusinessId, type CertId } from "../../core/ids.ts";
import { comparableMailbox } from "../../core/mailbox.ts";
import { ok, refuse, type Result } from "../../core/result.ts";
import { isoOf, minuteMs, type Instant } from "../../core/time.ts";
import { businessIdentity, capturingClient, type CapturingClient } from "../../storage/accounts.ts";
import { certificatePage } from "../../storage/certificate-list.ts";
import { certificateById, insertCertificate, isNoLongerEntitled, openedCertificate } from "../../storage/certificates.ts";
import { commit } from "../../storage/commit.ts";
import { idempotencyKeyHash, insertAnswer, isTakenKey, openAnswer } from "../../storage/idempotency.ts";
import { insertPolicyWork } from "../../storage/outbox.ts";
import { policyText } from "../../storage/policies.ts";
import { viewTrail } from "../../storage/views.ts";
import type { Services } from "../services.ts";
import { relayOutbox } from "./outbox.ts";

type JsonObject = { readonly [key: string]: Json };

const policyFreshMs = 15 * minuteMs; // CONTRACT 8: a domain is looked at no more often
const rootSaltBytes = 32;
const manageTokenBytes = 32;
const shownViews = 100;

export interface CaptureRequest {
  readonly submission: Submission;
  readonly originHeader: string | null;
  readonly circumstances: CaptureCircumstances;
  /** Header Idempotency-Key or body submission_id; they mean the same. */
  readonly idempotencyKey: string | null;
  /** The business whose API key came with the request; null for a visitor's browser. */
  readonly callerBusiness: BusinessId | null;
}

export interface Captured {
  /** The 201's data. */
  readonly receipt: JsonObject;
  readonly replayed: boolean;
}

export type CaptureRefusal = IssueRefusal | "invalid_request" | "client_not_found" | "forbidden" | "idempotency_conflict";

/** What makes two submissions the same one: all that is sealed about the person and the text, nothing that a retry changes. */
const submissionHash = (submission: Submission, read: ReadSubmission): string =>
  sha256Hex(
    canonicalJson({
      client_id: submission.clientId,
      fields: [...read.fields].sort(([a], [b]) => (a < b ? -1 : 1)),
      disclosure_text: submission.disclosureText,
      entities: read.recipients.entities,
      answered: read.recipients.answered === undefined ? null : [read.recipients.answered.accepted, read.recipients.answered.rejected],
      purpose: read.purpose,
      page_url: submission.pageUrl,
    }),
  );

const hostOf = (origin: string | null): string => (origin !== null && URL.canParse(origin) ? new URL(origin).hostname : "");

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

/** Writes the issuance and everything that follows from it as one batch. */
const commitIssuance = async (
  services: Services,
  db: D1Database,
  business: CapturingClient,
  issued: Issued,
  answer: { readonly keyHash: string; readonly bodyHash: string } | null,
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
  const rows = await insertCertificate(db, services.vault, issued, {
    signature: { kid: services.signer.kid, alg: "Ed25519", value: signature },
    manageTokenHash: sha256Hex(manageToken),
    emailIndex,
    phoneIndex,
    policyCaptureId: business.freshCaptureId,
  });
  if (business.freshCaptureId === null) {
    rows.push(
      insertPolicyWork(db, {
        certId: certificate.id,
        domain: certificate.originDomain,
        page: withoutQuery(String(certificate.evidence.page_url)),
        now: certificate.issuedAt,
      }),
    );
  }
  if (answer !== null) {
    rows.push(
      ...(await insertAnswer(db, services.vault, { ...answer, status: 201, response: JSON.stringify(receipt), now: certificate.issuedAt })),
    );
  }
  await commit({ db, vault: services.vault, ledgerId: services.config.ledgerId }, rows, [issued.fact]);
  return receipt;
};

const replay = async (
  services: Services,
  keyHash: string,
  bodyHash: string,
  answered: NonNullable<CapturingClient["answered"]>,
): Promise<Result<Captured, "idempotency_conflict">> => {
  if (answered.bodyHash !== bodyHash) return refuse("idempotency_conflict");
  return ok({ receipt: JSON.parse(await openAnswer(services.vault, keyHash, answered.responseSealed)) as JsonObject, replayed: true });
};

/** Null when somebody else changed the account or used the key between reading and writing: read again. */
const captureOnce = async (
  services: Services,
  db: D1Database,
  request: CaptureRequest,
  read: ReadSubmission,
): Promise<Result<Captured, CaptureRefusal> | null> => {
  const { submission } = request;
  const now = services.clock();
  const keyHash =
    request.idempotencyKey === null ? null : idempotencyKeyHash(submission.clientId, "POST /v1/consent", request.idempotencyKey);
  const bodyHash = submissionHash(submission, read);
  const business = await capturingClient(db, {
    clientId: submission.clientId,
    originHost: hostOf(request.originHeader),
    captureNotBefore: now - policyFreshMs,
    idempotencyKeyHash: keyHash,
    now,
  });
  if (business === null) return refuse("client_not_found");
  if (request.callerBusiness !== null && request.callerBusiness !== business.id) return refuse("forbidden");
  if (keyHash !== null && business.answered !== null) return replay(services, keyHash, bodyHash, business.answered);

  const issued = issueCertificate({
    business,
    submission,
    read,
    originHeader: request.originHeader,
    circumstances: request.circumstances,
    rules: { allowsLocalHttp: services.config.environment === "development", allowsSandboxLocalhost: business.environment === "sandbox" },
    now,
    certId: newId("cc_", homeOfId(submission.clientId), services.random) as CertId,
    rootSalt: services.random(rootSaltBytes),
  });
  if (!issued.ok) return issued;

  try {
    const receipt = await commitIssuance(services, db, business, issued.value, keyHash === null ? null : { keyHash, bodyHash });
    services.afterAnswer(() => relayOutbox(services));
    return ok({ receipt, replayed: false });
  } catch (error) {
    if (isNoLongerEntitled(error) || isTakenKey(error)) return null;
    throw error;
  }
};

/**
 * Seals one form submission into a certificate (SPEC, POST /v1/consent). Durable before it is answered; the policies, the
 * audit chain and the ledger follow from the outboxes.
 * Refuses, in this order: invalid_request, client_not_found, forbidden (a key of another business), idempotency_conflict, then as `issueCertificate`.
 */
export const captureConsent = async (services: Services, request: CaptureRequest): Promise<Result<Captured, CaptureRefusal>> => {
  const read = readSubmission(request.submission);
  if (!read.ok) return read;
  const db = services.homes.of(request.submission.clientId);
  if (db === null) return refuse("client_not_found");
  // One more look suffices for a change that happened once; an account that keeps changing under us is an outage.
  const captured = (await captureOnce(services, db, request, read.value)) ?? (await captureOnce(services, db, request, read.value));
  if (captured === null) throw new Error("capture: the account kept changing");
  return captured;
};

/** Refuses `cert_not_found`. Needs no credential and shows nothing personal. */
export const verifyCertificate = async (services: Services, certId: CertId): Promise<Result<PublishedCertificate, "cert_not_found">> => {
  const db = services.homes.of(certId);
  const certificate = db === null ? null : await certificateById(db, certId);
  return certificate === null ? refuse("cert_not_found") : ok(certificate);
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
    certs: certificates.map((row) => listRowView(row, services.config.verifyUrl)),
    total,
    page: query.page,
    per_page: query.perPage,
  };
};

/** Opens a certificate of the principal for reading, and puts that reading into the business's audit chain first. */
const openForReading = async (
  services: Services,
  principal: Principal,
  certId: CertId,
  type: FactType,
  payload: JsonObject,
): Promise<Result<DetailParts, "cert_not_found">> => {
  const db = services.homes.of(certId);
  const opened: OpenedCertificate | null =
    db === null
      ? null
      : await openedCertificate(db, services.vault, { certId, businessId: principal.business.id, environment: principal.environment });
  if (db === null || opened === null) return refuse("cert_not_found");
  const [views, texts] = await Promise.all([
    viewTrail(db, services.vault, certId, shownViews),
    Promise.all(
      opened.certificate.policies.map(async (policy) => [policy.contentHash, await policyText(services.kv, policy.contentHash)] as const),
    ),
    commit(
      { db, vault: services.vault, ledgerId: services.config.ledgerId },
      [],
      [
        {
          type,
          entityType: "certificate",
          entityId: certId,
          at: services.clock(),
          chain: opened.chain,
          payload: { actor: `api_key:${principal.keyId}`, ...payload },
        },
      ],
    ),
  ]);
  return ok({ opened, views, policyTexts: new Map(texts), verifyBase: services.config.verifyUrl });
};

/** The owner's detail: decrypted subject and evidence. Refuses `cert_not_found` for unknown and foreign ids alike. */
export const readCertificate = async (
  services: Services,
  principal: Principal,
  certId: CertId,
): Promise<Result<JsonObject, "cert_not_found">> => {
  const parts = await openForReading(services, principal, certId, "certificate.subject_read", {});
  return parts.ok ? ok(detailView(parts.value)) : parts;
};

/** The evidence bundle. `disclose` null discloses every field; `redacted` none, and no evidence that points to a person. */
export const evidencePack = async (
  services: Services,
  principal: Principal,
  certId: CertId,
  asked: { readonly disclose: ReadonlySet<string> | null; readonly redacted: boolean },
): Promise<Result<JsonObject, "cert_not_found">> => {
  const parts = await openForReading(services, principal, certId, "evidence_pack.exported", {
    redacted: asked.redacted,
    disclosed: asked.disclose === null ? "all" : [...asked.disclose].sort(),
  });
  if (!parts.ok) return parts;
  const db = services.homes.of(certId) as D1Database;
  return ok(
    evidenceBundle({
      ...parts.value,
      ...asked,
      generatedAt: services.clock(),
      identity: await businessIdentity(db, principal.business.id),
      issuerKeys: services.signer.publicKeys.map((key) => ({ ...key })),
    }),
  );
};
