// Requests attestations of checkpoints from witnesses and timestamp authorities every 15 minutes. If an attestor does not respond, retries
// with increasing delays, at most once a minute. No other work waits for attestations.
import { firstShard } from "../../core/ids.ts";
import type { AttestationOutcome } from "../../core/ledger/attestor.ts";
import type { Instant } from "../../core/time.ts";
import { claimAttestations, updateAttestation, type AttestationUpdate, type DueAttestation } from "../../storage/checkpoints.ts";
import { computeRetryAt } from "../../core/ledger/retries.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { requestAttestation } from "./request-attestation.ts";

const maxPerRun = 8; // enough for a few attestors and logs; the next run, a minute later, requests the rest

const toAttestationUpdate = (outcome: AttestationOutcome, row: DueAttestation, now: Instant): AttestationUpdate => {
  if (outcome.ok) return { status: outcome.verified ? "attested" : "unverified", attestation: outcome.attestation };
  if (outcome.kind === "permanent") return { status: "given_up" };
  return { status: "pending", nextAt: computeRetryAt(row.attempts, outcome.retryAfterMs ?? 0, now, Math.random()) };
};

/**
 * Describes a problem that an operator must inspect: an attestor refused permanently (for example, a witness that has seen another
 * history), or an authority signed with a key that is not pinned. Returns null if there is no problem.
 */
const describeProblem = (outcome: AttestationOutcome, row: DueAttestation): string | null => {
  if (outcome.ok) return outcome.verified ? null : `${row.attestor} stamped with a key that is not pinned`;
  return outcome.kind === "permanent" ? `${row.attestor} refuses: ${outcome.code}` : null;
};

/** Requests due attestations concurrently, so that an unresponsive attestor does not delay the others. */
export const attestDue = async (platform: Platform): Promise<void> => {
  if (platform.attestors.length === 0) return;
  const db = platform.shards.get(firstShard);
  const due = await claimAttestations(db, maxPerRun, platform.clock());
  const settle = async (row: DueAttestation): Promise<void> => {
    const attestor = platform.attestors.find(({ kind, name }) => kind === row.kind && name === row.attestor);
    // The authority's key has expired since the attestation was queued, so a timestamp would not count.
    if (attestor?.isInUse?.(platform.clock()) === false) {
      await updateAttestation(db, row, { status: "given_up" }).run();
      return;
    }
    const outcome: AttestationOutcome =
      attestor === undefined
        ? { ok: false, kind: "permanent", code: "not_configured" }
        : await requestAttestation(platform, db, attestor, row);
    const problem = describeProblem(outcome, row);
    if (problem !== null) platform.log.error({ at: "attestations", error: problem });
    await updateAttestation(db, row, toAttestationUpdate(outcome, row, platform.clock())).run();
  };
  // If processing a row throws, the row is due again when its lease ends.
  await Promise.all(due.map((row) => runIsolated(platform, "attestations", () => settle(row))));
};
