// Runs the verifier on the certificate page. It checks the issuer's signature, the ledger's proof, third-party attestations and any
// withdrawal, with the keys that the service publishes. It therefore cannot detect a dishonest service; for that, run svc-verify with keys
// from a different source.
import { encodeUtf8 } from "../../../../core/bytes.ts";
import { parseIJson } from "../../../../core/i-json.ts";
import type { CheckId, CheckOutcome } from "../../../../verifier/checks.ts";
import { asObject } from "../../../../verifier/json.ts";
import { trustOf } from "../../../../verifier/trust.ts";
import { defaultVerificationOptions } from "../../../../verifier/verify-pack.ts";
import { verifyPublic } from "../../../../verifier/verify-public.ts";
import type { JsonObject } from "../../../../core/canonical-json.ts";
import { findCheckItem, showOutcome } from "./check-list.ts";

const proofGroups = ["signature", "ledger", "others", "withdrawal"] as const;

const getProofGroup = (id: CheckId): (typeof proofGroups)[number] => {
  if (id.startsWith("attest.") || id.startsWith("revoke.attest.")) return "others";
  if (id.startsWith("anchor.")) return "ledger";
  return id.startsWith("revoke.") ? "withdrawal" : "signature";
};

const outcomesBySeverity: readonly CheckOutcome[] = ["fail", "incomplete", "pass", "skipped"];

const parseEmbeddedJson = (id: string): JsonObject | null => {
  const parsed = parseIJson(encodeUtf8(document.getElementById(id)?.textContent ?? ""));
  return parsed.ok ? asObject(parsed.value) : null;
};

export const checkProofs = async (): Promise<void> => {
  const published = parseEmbeddedJson("published");
  if (published === null || globalThis.crypto?.subtle === undefined) return;
  const { checks } = await verifyPublic(published, { ...defaultVerificationOptions, trust: trustOf(parseEmbeddedJson("trust")) });
  for (const group of proofGroups) {
    const item = findCheckItem(group);
    const outcomes = checks.filter(({ id }) => getProofGroup(id) === group).map(({ outcome }) => outcome);
    if (item !== null) showOutcome(item, outcomesBySeverity.find((candidate) => outcomes.includes(candidate)) ?? "skipped");
  }
};
