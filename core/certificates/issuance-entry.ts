// The audit entry of an issuance. For a live certificate, the entry can be rebuilt at any time: the certificate is never deleted, and an
// erasure keeps everything that the entry commits to.
import { hashAuditPayload } from "../audit/payload.ts";
import type { CommittedPayload } from "../audit/trail.ts";
import type { Environment } from "../access/entitlement.ts";
import { toAuditPayload, type AuditContent } from "../domain-events.ts";
import { sha256Hex } from "../hash.ts";
import type { SubmissionNotes } from "./submission-notes.ts";

/** What the audit entry commits to. */
export interface IssuanceFacts {
  readonly clientId: string;
  readonly fingerprint: string;
  readonly evidenceHash: string;
  readonly environment: Environment;
  readonly gpc: boolean;
  readonly capturedVia: "browser" | "server";
  readonly notes: SubmissionNotes | null;
}

/**
 * Builds the content of the entry. It repeats parts of the evidence (the privacy signal, how the request reached the service, and the
 * notes), so that they remain proven if the evidence is erased or omitted from a pack.
 */
export const buildIssuanceContent = ({ clientId, fingerprint, evidenceHash, environment, gpc, capturedVia, notes }: IssuanceFacts) =>
  ({
    actor: { kind: "client", id: clientId },
    payload: { fingerprint, evidence_hash: evidenceHash, environment, gpc, captured_via: capturedVia, ...notes },
  }) as const satisfies AuditContent;

/**
 * Derives the ID of the change that issued a certificate: a UUID from a hash of the salt. The public event has the same ID, so the ID must
 * not reveal the salt. Its version is 4, like that of other event IDs, because some UUID parsers refuse version 8.
 */
export const deriveIssuanceChangeId = (salt: string): string => {
  const hex = sha256Hex(`svc-issuance-v1\n${salt}`);
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
};

export interface IssuanceEntry {
  readonly id: string;
  readonly payloadHash: string;
  readonly committed: CommittedPayload;
}

export const buildIssuanceEntry = (facts: IssuanceFacts, salt: string): IssuanceEntry => {
  const payload = toAuditPayload(buildIssuanceContent(facts));
  return { id: deriveIssuanceChangeId(salt), payloadHash: hashAuditPayload(salt, payload), committed: { salt, payload } };
};
