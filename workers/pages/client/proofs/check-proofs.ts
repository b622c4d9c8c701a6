// The certificate page checks what stands behind it with the verifier itself: the issuer's signature, the ledger's proof, what
// others attested. The keys are those that the service publishes, so this finds a defect and proves nothing about the service;
// svc-verify with keys of one's own does that.
import { utf8 } from "../../../../core/bytes.ts";
import { parseIJson } from "../../../../core/i-json.ts";
import type { CheckId, Outcome } from "../../../../verifier/checks.ts";
import { objectOf, type JsonObject } from "../../../../verifier/json.ts";
import { trustOf } from "../../../../verifier/trust.ts";
import { noDemands } from "../../../../verifier/verify-pack.ts";
import { verifyPublic } from "../../../../verifier/verify-public.ts";

const groupOf = (id: CheckId): string => {
  if (id.startsWith("attest.") || id.startsWith("revoke.attest.")) return "others";
  if (id.startsWith("anchor.")) return "ledger";
  return id.startsWith("revoke.") ? "withdrawal" : "signature";
};

const worstFirst: readonly Outcome[] = ["fail", "incomplete", "pass", "skipped"];

const hiddenJson = (id: string): JsonObject | null => {
  const parsed = parseIJson(utf8(document.getElementById(id)?.textContent ?? ""));
  return parsed.ok ? objectOf(parsed.value) : null;
};

/** Fills in what holds; a failure is opened, so that nobody overlooks it. */
export const checkProofs = async (): Promise<void> => {
  const element = document.querySelector<HTMLDetailsElement>("#proofs");
  const published = hiddenJson("published");
  if (element === null || published === null || globalThis.crypto?.subtle === undefined) return;
  const { checks } = await verifyPublic(published, { ...noDemands, trust: trustOf(hiddenJson("trust")) });
  for (const place of element.querySelectorAll<HTMLElement>("[data-proof]")) {
    const outcomes = checks.filter(({ id }) => groupOf(id) === place.dataset.proof).map(({ outcome }) => outcome);
    const outcome = worstFirst.find((one) => outcomes.includes(one)) ?? "skipped";
    place.dataset.outcome = outcome;
    place.textContent = element.dataset[outcome] ?? "";
    if (outcome === "fail") element.open = true;
  }
};
