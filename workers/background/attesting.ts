// Asks others to attest checkpoints: once a quarter of an hour, and each minute again until there is an answer. Nothing waits for
// it: it only ever adds.
import { bytesOfBase64 } from "../../core/bytes.ts";
import { firstHome } from "../../core/ids.ts";
import type { AttestOutcome, Attestor, CheckpointToAttest } from "../../core/ledger/attestor.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { Database } from "../../storage/database.ts";
import { claimAttestations, endAttestation, witnessedSize, type AttestationEnd, type DueAttestation } from "../../storage/checkpoints.ts";
import { nextTryAt } from "../../core/ledger/retries.ts";
import { failingAlone } from "../log.ts";
import type { Platform } from "../services.ts";

const maxAtOnce = 8; // a few attestors, each with one row a log: more is a backlog, and the next minute has its turn

/** Leads from an earlier tree of one of our two logs to this one: the audit log answers itself, the ledger by its tiles. */
const consistencyOf =
  (platform: Platform, origin: string, size: bigint, signal: AbortSignal): CheckpointToAttest["consistencyProof"] =>
  async (fromSize) => {
    const [ledger] = platform.ledgers;
    if (ledger !== undefined && platform.config.ledger.origin === origin) {
      const read = await ledger.consistency(fromSize, size, signal);
      if (!read.ok) throw new Error(`attestations: ${"code" in read ? read.code : read.kind}`);
      return read.hashes;
    }
    const shard = Number(/\/audit\/(\d+)$/.exec(origin)?.[1] ?? Number.NaN);
    const hashes = await platform.auditLog(shard).consistencyProof(fromSize.toString(), size.toString());
    return hashes.map((hash) => bytesOfBase64(hash) ?? new Uint8Array(0));
  };

/** Shows a checkpoint to one who attests. */
export const askAttestor = async (
  platform: Platform,
  db: Database,
  { kind, name, attest }: Attestor,
  { origin, note, size: text }: Pick<DueAttestation, "origin" | "note" | "size">,
): Promise<AttestOutcome> => {
  const signal = AbortSignal.timeout(30 * secondMs);
  const size = BigInt(text);
  const witnessed = kind === "cosignature" ? BigInt(await witnessedSize(db, origin, name)) : 0n;
  return attest({ note, size, witnessedSize: witnessed, consistencyProof: consistencyOf(platform, origin, size, signal) }, signal);
};

const endOf = (outcome: AttestOutcome, row: DueAttestation, now: Instant): AttestationEnd => {
  if (outcome.ok) return { status: outcome.verified ? "attested" : "unverified", attestation: outcome.attestation };
  if (outcome.kind === "permanent") return { status: "given_up" };
  return { status: "pending", nextAt: nextTryAt(row.attempts, outcome.afterMs ?? 0, now, Math.random()) };
};

/** What an operator should look at: a witness that has seen another history, an authority that signs with an unknown key. */
const alarmOf = (outcome: AttestOutcome, row: DueAttestation): string | null => {
  if (outcome.ok) return outcome.verified ? null : `${row.attestor} stamped with a key that is not pinned`;
  return outcome.kind === "permanent" ? `${row.attestor} refuses: ${outcome.code}` : null;
};

/** Asks for what is due, side by side: an attestor that hangs keeps no other waiting. */
export const attestDue = async (platform: Platform): Promise<void> => {
  if (platform.attestors.length === 0) return;
  const db = platform.homes.at(firstHome);
  const due = await claimAttestations(db, maxAtOnce, platform.clock());
  const settle = async (row: DueAttestation): Promise<void> => {
    const attestor = platform.attestors.find(({ kind, name }) => kind === row.kind && name === row.attestor);
    const outcome: AttestOutcome =
      attestor === undefined ? { ok: false, kind: "permanent", code: "not_configured" } : await askAttestor(platform, db, attestor, row);
    const alarm = alarmOf(outcome, row);
    if (alarm !== null) platform.log.fault({ at: "attestations", error: alarm });
    await endAttestation(db, row, endOf(outcome, row, platform.clock())).run();
  };
  await Promise.all(due.map((row) => failingAlone(platform, "attestations", () => settle(row)))); // a lease passes, and it is due again
};
