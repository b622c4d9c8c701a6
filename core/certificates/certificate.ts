// A certificate as it is issued, and its evidence.
import type { JsonObject } from "../canonical-json.ts";
import type { Environment } from "../access/entitlement.ts";
import type { BusinessId, CertId, ClientId } from "../ids.ts";
import type { Instant } from "../time.ts";
import type { Recipients } from "./recipients.ts";
import type { SubjectFields } from "./subject.ts";
import type { SubmissionNotes } from "./submission-notes.ts";

export type CertificateStatus = "active" | "revoked";

/** How the request reached the service. `capturedVia` depends on a request header that any sender can set. */
export interface CaptureContext {
  readonly ip: string;
  readonly userAgent: string;
  readonly gpc: boolean;
  readonly capturedVia: "browser" | "server";
  readonly geo: { readonly country: string | null; readonly region: string | null; readonly city: string | null };
}

/** A form submission whose structure has been validated. Its content is validated later (submission.ts). */
export interface Submission {
  readonly fields: object;
  /** True if the page script omitted fields because the form has more fields, or longer values, than a certificate can contain. */
  readonly isTruncated: boolean;
  readonly disclosureText: string;
  readonly entities: readonly string[];
  readonly entitiesAccepted: readonly string[] | undefined;
  readonly entitiesRejected: readonly string[] | undefined;
  readonly purpose: string;
  readonly pageUrl: string;
  /** Optional evidence as JSON: locale, presentation, esign, widget, referrer, client_time. */
  readonly extras: JsonObject;
}

export interface Certificate {
  readonly id: CertId;
  readonly business: { readonly id: BusinessId; readonly name: string };
  readonly clientId: ClientId;
  readonly environment: Environment;
  readonly purpose: string;
  readonly disclosureText: string;
  readonly disclosureHash: string;
  readonly recipients: Recipients;
  readonly originDomain: string;
  readonly issuedAt: Instant;
  readonly fields: SubjectFields;
  readonly notes: SubmissionNotes;
  readonly rootSalt: Uint8Array;
  /** The salt of the issuance's audit entry, from which the entry is rebuilt when it is needed. Null if the entry itself is stored. */
  readonly auditSalt: string | null;
  readonly subjectHash: string;
  readonly fingerprint: string;
  /** The exact text whose SHA-256 is the fingerprint. */
  readonly canonical: string;
  readonly evidence: JsonObject;
  /** The exact text whose SHA-256 is `evidenceHash`. */
  readonly evidenceText: string;
  readonly evidenceHash: string;
  readonly captureContext: CaptureContext;
  readonly retentionUntil: Instant;
}
