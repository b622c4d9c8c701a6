// Makes the decision for POST /v1/consent: issues a certificate with its domain event, or refuses the submission. The decision depends only
// on the arguments, which include IDs, salts and the time.
import { authorizeCapture, type AccessRefusal, type Environment, type Plan } from "../access/entitlement.ts";
import { verifyOrigin, verifyPageUrl, type OriginRules, type VerifiedDomain } from "../access/origins.ts";
import type { BusinessPrincipal } from "../access/principal.ts";
import { toCanonicalJson, type JsonObject } from "../canonical-json.ts";
import { createCertificateEvent, type DomainEvent } from "../domain-events.ts";
import { sha256Hex } from "../hash.ts";
import type { CertId, ClientId } from "../ids.ts";
import { ok, type Result } from "../result.ts";
import { toIso, type Instant } from "../time.ts";
import type { CaptureContext, Certificate, Submission } from "./certificate.ts";
import { canonicalizePreimage, computeFingerprint, buildPreimage } from "./fingerprint.ts";
import type { ParsedSubmission } from "./submission.ts";
import { buildSubmissionNotes, type SubmissionNotes } from "./submission-notes.ts";
import { buildIssuanceContent } from "./issuance-entry.ts";
import { deriveAuditSalt, deriveEvidenceSalt, computeSubjectCommitments, computeSubjectHash } from "./subject.ts";
import { parseBrowserFamily, parseOsFamily } from "./user-agent.ts";

export interface IssuingBusiness extends Omit<BusinessPrincipal, "country" | "otherShards"> {
  readonly plan: Plan;
  readonly environment: Environment;
  readonly domains: readonly VerifiedDomain[];
  readonly retentionYears: number;
  /** True if the business opted in to `certificate.issued` events. */
  readonly emitsIssued: boolean;
}

export interface IssuedCertificate {
  readonly certificate: Certificate;
  readonly domainEvent: DomainEvent;
}

export type IssueRefusal = AccessRefusal | "plan_required" | "origin_not_verified" | "page_url_not_verified";

const addYears = (from: Instant, years: number): Instant => {
  const date = new Date(from);
  return date.setUTCFullYear(date.getUTCFullYear() + years);
};

/**
 * Builds the evidence. It contains a salt, because its hash is stored in plain text and is part of redacted packs. Without a salt, someone
 * who knows everything in the evidence except the IP address could find the address by trying all four billion IPv4 addresses.
 */
const buildEvidence = (
  submission: Submission,
  notes: SubmissionNotes,
  origin: string,
  context: CaptureContext,
  salt: string,
): JsonObject => ({
  salt,
  page_url: submission.pageUrl,
  ip: context.ip,
  user_agent: context.userAgent,
  os: parseOsFamily(context.userAgent),
  browser: parseBrowserFamily(context.userAgent),
  geo: { ...context.geo },
  gpc: context.gpc,
  captured_via: context.capturedVia,
  origin_reported: origin,
  referrer: submission.extras.referrer ?? null,
  client_time: submission.extras.client_time ?? null,
  locale: submission.extras.locale ?? null,
  widget: submission.extras.widget ?? null,
  presentation: submission.extras.presentation ?? null,
  esign: submission.extras.esign ?? null,
  ...notes,
});

/**
 * Issues a certificate. Checks the account's status and plan, then the Origin, then the page URL (SPEC Certificate). If several checks
 * fail, the first of them determines the refusal.
 */
export const issueCertificate = (input: {
  readonly business: IssuingBusiness;
  readonly clientId: ClientId;
  readonly submission: Submission;
  readonly parsed: ParsedSubmission;
  /** The list of unrecognized fields from `recognizeFields`. */
  readonly unrecognized: readonly string[];
  readonly originHeader: string | null;
  readonly captureContext: CaptureContext;
  readonly rules: OriginRules;
  readonly now: Instant;
  readonly certId: CertId;
  readonly rootSalt: Uint8Array;
}): Result<IssuedCertificate, IssueRefusal> => {
  const { business, submission, now, certId } = input;
  const entitled = authorizeCapture(business, business.environment);
  if (!entitled.ok) return entitled;
  const origin = verifyOrigin(input.originHeader, business.domains, input.rules);
  if (!origin.ok) return origin;
  const page = verifyPageUrl(submission.pageUrl, business.domains, input.rules);
  if (!page.ok) return page;

  const { fields, isReplaced, recipients, purpose } = input.parsed;
  const notes = buildSubmissionNotes({ unrecognized: input.unrecognized, isTruncated: submission.isTruncated, isReplaced });
  const disclosureHash = sha256Hex(submission.disclosureText);
  const subjectHash = computeSubjectHash(computeSubjectCommitments(fields, input.rootSalt));
  const preimage = buildPreimage({
    business,
    certId,
    disclosureHash,
    recipients,
    originDomain: origin.value.host,
    purpose,
    subjectHash,
    timestamp: toIso(now),
  });
  const canonical = canonicalizePreimage(preimage);
  const fingerprint = computeFingerprint(canonical);
  const evidence = buildEvidence(submission, notes, input.originHeader as string, input.captureContext, deriveEvidenceSalt(input.rootSalt));
  const evidenceText = toCanonicalJson(evidence);
  const evidenceHash = sha256Hex(evidenceText);
  // Test certificates can be deleted, so their audit entries cannot be rebuilt and are stored instead.
  const auditSalt = business.environment === "live" ? deriveAuditSalt(input.rootSalt) : null;
  const certificate: Certificate = {
    id: certId,
    business: { id: business.id, name: business.name },
    clientId: input.clientId,
    environment: business.environment,
    purpose,
    disclosureText: submission.disclosureText,
    disclosureHash,
    recipients,
    originDomain: origin.value.host,
    issuedAt: now,
    fields,
    notes,
    rootSalt: input.rootSalt,
    auditSalt,
    subjectHash,
    fingerprint,
    canonical,
    evidence,
    evidenceText,
    evidenceHash,
    captureContext: input.captureContext,
    retentionUntil: addYears(now, business.retentionYears),
  };
  const domainEvent = createCertificateEvent({ id: certId, chain: business.chain }, now, {
    type: "certificate.issued",
    ...buildIssuanceContent({
      clientId: input.clientId,
      fingerprint,
      evidenceHash,
      environment: business.environment,
      gpc: input.captureContext.gpc,
      capturedVia: input.captureContext.capturedVia,
      notes,
    }),
    anchor: { fingerprint, originDomain: origin.value.host },
    ...(auditSalt !== null && { recordSalt: auditSalt }),
    ...(business.emitsIssued && { businessId: business.id, environment: business.environment }),
  });
  return ok({ certificate, domainEvent });
};
