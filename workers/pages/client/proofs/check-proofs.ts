// The certificate page checks what stands behind it with the verifier itself: the issuer's signature, the ledger's proof, what
// others attested. The keys are those that the service publishes, so this finds a defect and proves nothing about the service;
// svc-verify with keys of one's own does that.
import { encodeUtf8 } from "../../../../core/bytes.ts";
import { parseIJson } from "../../../../core/i-json.ts";
import type { CheckId, CheckOutcome } from "../../../../verifier/checks.ts";
import { asObject, type JsonObject } from "../../../../verifier/json.ts";
import { trustOf } from "../../../../verifier/trust.ts";
import { defaultVerificationOptions } from "../../../../verifier/verify-pack.ts";
import { verifyPublic } from "../../../../verifier/verify-public.ts";

const getProofGroup = (id: CheckId): string => {
  if (id.startsWith("attest.") || id.startsWith("revoke.attest.")) return "others";
  if (id.startsWith("anchor.")) return "ledger";
  return id.startsWith("revoke.") ? "withdrawal" : "signature";
};

const outcomesBySeverity: readonly CheckOutcome[] = ["fail", "incomplete", "pass", "skipped"];

const parseEmbeddedJson = (id: string): JsonObject | null => {
  const parsed = parseIJson(encodeUtf8(document.getElementById(id)?.textContent ?? ""));
  return parsed.ok ? asObject(parsed.value) : null;
};

/** Fills in what holds; a failure is opened, so that nobody overlooks it. */
export const checkProofs = async (): Promise<void> => {
  const element = document.querySelector<HTMLDetailsElement>("#proofs");
  const published = parseEmbeddedJson("published");
  if (element === null || published === null || globalThis.crypto?.subtle === undefined) return;
  const { checks } = await verifyPublic(published, { ...defaultVerificationOptions, trust: trustOf(parseEmbeddedJson("trust")) });
  for (const place of element.querySelectorAll<HTMLElement>("[data-proof]")) {
    const outcomes = checks.filter(({ id }) => getProofGroup(id) === place.dataset.proof).map(({ outcome }) => outcome);
    const outcome = outcomesBySeverity.find((one) => outcomes.includes(one)) ?? "skipped";
    place.dataset.outcome = outcome;
    place.textContent = element.dataset[outcome] ?? "";
    if (outcome === "fail") element.open = true;
  }
};
