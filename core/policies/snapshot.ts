// What a policy snapshot is: the words of a page, one spelling of their white space, and the hash that names them.
import { sha256Hex } from "../hash.ts";
import { minuteMs } from "../time.ts";

export type PolicyKind = "privacy" | "terms";
export const policyKinds: readonly PolicyKind[] = ["privacy", "terms"];

/** A capture is shared by every certificate issued this long after it; a domain is captured no more often (CONTRACT 8). */
export const captureReuseMs = 15 * minuteMs;

export interface PolicyText {
  readonly sourceUrl: string;
  readonly text: string;
  /** Hex SHA-256 of the UTF-8 bytes of `text`. */
  readonly contentHash: string;
}

/** What one capture of a domain's policies found; null where it found none. */
export type CapturedPolicies = Readonly<Record<PolicyKind, PolicyText | null>>;

/**
 * Each line without white space at its ends and with single spaces inside; lines without anything are dropped; lines are
 * joined by one line feed. White space is Unicode's White_Space. Nothing else is changed.
 */
export const normalizePolicyText = (text: string): string =>
  text
    .split(/[\n\r\u000b\u000c\u0085\u2028\u2029]/)
    .map((line) => line.replace(/\p{White_Space}+/gu, " ").replace(/^ | $/g, ""))
    .filter((line) => line !== "")
    .join("\n");

/** Null for a page without a word: there is nothing to keep. `text` is normalised. */
export const createPolicyText = (sourceUrl: string, text: string): PolicyText | null =>
  text === "" ? null : { sourceUrl, text, contentHash: sha256Hex(text) };
