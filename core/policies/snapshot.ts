// A policy snapshot: the normalized text of a page and the hash that identifies it (SPEC Policy snapshot).
import type { JsonObject } from "../canonical-json.ts";
import { createAuditedEvent, type AuditChain, type DomainEvent } from "../domain-events.ts";
import { sha256Hex } from "../hash.ts";
import { minuteMs, toIso, type Instant } from "../time.ts";

export type PolicyKind = "privacy" | "terms";
export const policyKinds: readonly PolicyKind[] = ["privacy", "terms"];

/** How long new certificates of the same page or origin use the same capture, in milliseconds. */
export const captureReuseMs = 15 * minuteMs;

export interface PolicyText {
  readonly sourceUrl: string;
  readonly text: string;
  /** The SHA-256 of the UTF-8 bytes of `text`, as hex. */
  readonly contentHash: string;
}

/** A stored snapshot, as shown on certificates. */
export interface PolicySnapshot {
  readonly id: string;
  readonly sourceUrl: string;
  readonly contentHash: string;
  readonly capturedAt: Instant;
}

/** A capture of an origin's policies, to which certificates are linked. A policy that was not found is null. */
export interface PolicyCapture {
  readonly id: string;
  readonly policies: Readonly<Record<PolicyKind, PolicySnapshot | null>>;
}

const toSource = (policy: PolicySnapshot | null): JsonObject | null =>
  policy === null ? null : { captured_at: toIso(policy.capturedAt), id: policy.id, source_url: policy.sourceUrl };

/** Builds the payload that the `policy.linked` audit entry commits to: everything that a certificate shows about its policies. */
export const buildPolicyLinkedPayload = ({ id, policies: { privacy, terms } }: PolicyCapture): JsonObject => ({
  capture_id: id,
  privacy: privacy?.contentHash ?? null,
  terms: terms?.contentHash ?? null,
  sources: { privacy: toSource(privacy), terms: toSource(terms) },
});

/** Creates the domain event for a certificate that is linked to a capture. */
export const createPolicyLinkedEvent = (
  { certId, chain }: { readonly certId: string; readonly chain: AuditChain },
  capture: PolicyCapture,
  now: Instant,
): DomainEvent =>
  createAuditedEvent(
    { chain, actor: { kind: "system" } },
    { type: "policy.linked", entityType: "certificate", entityId: certId, payload: buildPolicyLinkedPayload(capture) },
    now,
  );

/** The result of one capture of a domain. A policy that was not found is null. */
export type CapturedPolicies = Readonly<Record<PolicyKind, PolicyText | null>>;

/**
 * Trims each line, collapses whitespace (Unicode White_Space) inside lines to one space, drops empty lines and joins the rest with line
 * feeds. The result is hashed, so changing this function would change content hashes.
 */
export const normalizePolicyText = (text: string): string =>
  text
    .split(/[\n\r\u000b\u000c\u0085\u2028\u2029]/)
    .map((line) => line.replace(/\p{White_Space}+/gu, " ").replace(/^ | $/g, ""))
    .filter((line) => line !== "")
    .join("\n");

/** Creates the policy text. Returns null for empty text. `text` must be normalized. */
export const createPolicyText = (sourceUrl: string, text: string): PolicyText | null =>
  text === "" ? null : { sourceUrl, text, contentHash: sha256Hex(text) };
