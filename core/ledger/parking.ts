// Which statements a ledger is not asked about again for hours.
import type { Outcome } from "./adapter.ts";

const isUnproven = (code: string): boolean => code.startsWith("receipt_");
const unprovenUntilParked = 3;

/** Refused for good, or answered for the third time with what does not prove it: not a matter of a moment, so asked again much later. */
export const isToPark = (
  { attempts, lastError }: { readonly attempts: number; readonly lastError: string | null },
  outcome: Outcome,
): boolean => {
  if (outcome.ok || outcome.kind === "fork") return false;
  if (outcome.kind === "permanent") return true;
  return isUnproven(outcome.code) && isUnproven(lastError ?? "") && attempts + 1 >= unprovenUntilParked;
};
