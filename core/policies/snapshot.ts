// A policy snapshot: the normalized text of a page and the hash that identifies it (SPEC Policy snapshot).
import { sha256Hex } from "../hash.ts";
import { minuteMs } from "../time.ts";

export type PolicyKind = "privacy" | "terms";
export const policyKinds: readonly PolicyKind[] = ["privacy", "terms"];

/** Certificates issued within this time after a capture share it, so a domain is captured at most once per interval. */
export const captureReuseMs = 15 * minuteMs;

export interface PolicyText {
  readonly sourceUrl: string;
  readonly text: string;
  /** Hex SHA-256 of the UTF-8 bytes of `text`. */
  readonly contentHash: string;
}

/** The result of one capture of a domain; null for a policy that was not found. */
export type CapturedPolicies = Readonly<Record<PolicyKind, PolicyText | null>>;

/**
 * Trims each line, collapses white space (Unicode White_Space) inside lines to one space, drops empty lines and joins the rest
 * with line feeds. The result is hashed, so changing this function would change content hashes.
 */
export const normalizePolicyText = (text: string): string =>
  text
    .split(/[\n\r\u000b\u000c\u0085\u2028\u2029]/)
    .map((line) => line.replace(/\p{White_Space}+/gu, " ").replace(/^ | $/g, ""))
    .filter((line) => line !== "")
    .join("\n");

/** Returns null for empty text. `text` must be normalized. */
export const createPolicyText = (sourceUrl: string, text: string): PolicyText | null =>
  text === "" ? null : { sourceUrl, text, contentHash: sha256Hex(text) };
