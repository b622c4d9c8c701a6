// Asks others to attest checkpoints: once a quarter of an hour, and each minute again until there is an answer. Nothing waits for
// it: it only ever adds.
import { fromBase64 } from "../../core/bytes.ts";
import { firstShard } from "../../core/ids.ts";
import type { AttestationOutcome, Attestor, AttestationRequest } from "../../core/ledger/attestor.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import {
  claimAttestations,
  updateAttestation,
  getWitnessedSize,
  type AttestationUpdate,
  type DueAttestation,
} from "../../storage/checkpoints.ts";
import { computeRetryAt } from "../../core/ledger/retries.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../services.ts";

const maxPerRun = 8; // a few attestors, each with one row a log: more is a backlog, and the next minute has its turn

/** Leads from an earlier tree of one of our two logs to this one: the audit log answers itself, the ledger by its tiles. */
const createConsistencyProver =
  (platform: Platform, origin: string, size: bigint, signal: AbortSignal): AttestationRequest["getConsistencyProof"] =>
  async (fromSize) => {
    const [ledger] = platform.ledgers;
    if (ledger !== undefined && platform.config.ledger.origin === origin) {
      const read = await ledger.getConsistencyProof(fromSize, size, signal);
      if (!read.ok) throw new Error(`attestations: ${"code" in read ? read.code : read.kind}`);
      return read.hashes;
    }
    const shard = Number(/\/audit\/(\d+)$/.exec(origin)?.[1] ?? Number.NaN);
    const hashes = await platform.auditLogStub(shard).buildConsistencyProof(fromSize.toString(), size.toString());
    return hashes.map((hash) => fromBase64(hash) ?? new Uint8Array(0));
  };

/** Shows a checkpoint to one who attests. */
export const requestAttestation = async (
  platform: Platform,
  db: Database,
  { kind, name, attest }: Attestor,
  { origin, note, size: text }: Pick<DueAttestation, "origin" | "note" | "size">,
): Promise<AttestationOutcome> => {
  const signal = AbortSignal.timeout(30 * secondMs);
  const size = BigInt(text);
  const witnessed = kind === "cosignature" ? BigInt(await getWitnessedSize(db, origin, name)) : 0n;
  return attest(
    { note, size, witnessedSize: witnessed, getConsistencyProof: createConsistencyProver(platform, origin, size, signal) },
    signal,
  );
};

const toAttestationEnd = (outcome: AttestationOutcome, row: DueAttestation, now: Instant): AttestationUpdate => {
  if (outcome.ok) return { status: outcome.verified ? "attested" : "unverified", attestation: outcome.attestation };
  if (outcome.kind === "permanent") return { status: "given_up" };
  return { status: "pending", nextAt: computeRetryAt(row.attempts, outcome.retryAfterMs ?? 0, now, Math.random()) };
};

/** What an operator should look at: a witness that has seen another history, an authority that signs with an unknown key. */
const describeProblem = (outcome: AttestationOutcome, row: DueAttestation): string | null => {
  if (outcome.ok) return outcome.verified ? null : `${row.attestor} stamped with a key that is not pinned`;
  return outcome.kind === "permanent" ? `${row.attestor} refuses: ${outcome.code}` : null;
};

/** Asks for what is due, side by side: an attestor that hangs keeps no other waiting. */
export const attestDue = async (platform: Platform): Promise<void> => {
  if (platform.attestors.length === 0) return;
  const db = platform.shards.get(firstShard);
  const due = await claimAttestations(db, maxPerRun, platform.clock());
  const settle = async (row: DueAttestation): Promise<void> => {
    const attestor = platform.attestors.find(({ kind, name }) => kind === row.kind && name === row.attestor);
    const outcome: AttestationOutcome =
      attestor === undefined
        ? { ok: false, kind: "permanent", code: "not_configured" }
        : await requestAttestation(platform, db, attestor, row);
    const alarm = describeProblem(outcome, row);
    if (alarm !== null) platform.log.error({ at: "attestations", error: alarm });
    await updateAttestation(db, row, toAttestationEnd(outcome, row, platform.clock())).run();
  };
  await Promise.all(due.map((row) => runIsolated(platform, "attestations", () => settle(row)))); // a lease passes, and it is due again
};
