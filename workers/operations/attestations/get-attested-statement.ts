// Finds the attested checkpoint that covers a ledger statement, and an inclusion proof.
import { fromBase64, fromHex, toBase64 } from "../../../core/bytes.ts";
import type { AttestedStatement } from "../../../core/certificates/attested-statement.ts";
import { firstShard } from "../../../core/ids.ts";
import { getCheckpointInterval } from "../../../core/ledger/checkpoint-interval.ts";
import type { Receipt } from "../../../core/ledger/receipt.ts";
import { needsTimestamp } from "../../../core/ledger/rfc3161.ts";
import { findInclusionFault } from "../../../core/ledger/tlog-proof.ts";
import { secondMs } from "../../../core/time.ts";
import { findAttestedCheckpoint } from "../../../storage/checkpoints.ts";
import { runIsolated } from "../../log.ts";
import type { Proofs } from "../dependencies.ts";
import type { AttestationDependencies } from "./dependencies.ts";
import { findPrimaryLedger } from "./find-primary-ledger.ts";

/** Limits how long a slow ledger can delay reading a certificate. */
const inclusionTimeoutMs = 2 * secondMs;

const findAttestedStatement = async (services: AttestationDependencies, receipt: Receipt): Promise<AttestedStatement | null> => {
  const { config } = services;
  const ledger = findPrimaryLedger(services, ({ id }) => id === receipt.ledger);
  const leaf = fromBase64(receipt.leaf_hash);
  if (ledger === undefined || leaf === null) return null;
  const checkpoint = await findAttestedCheckpoint(services.shards.get(firstShard), {
    origin: ledger.origin,
    index: receipt.leaf_index,
    sinceWindow: getCheckpointInterval(Date.parse(receipt.submitted_at)),
    witnessMin: config.witnessMin,
    needsStamp: needsTimestamp(
      config.authorities.flatMap(({ pins }) => pins),
      Date.parse(receipt.submitted_at),
    ),
  });
  const root = checkpoint === null ? null : fromHex(checkpoint.root);
  if (checkpoint === null || root === null) return null;
  const index = BigInt(receipt.leaf_index);
  const size = BigInt(checkpoint.size);
  const proof = await ledger.getInclusionProof(index, size, AbortSignal.timeout(inclusionTimeoutMs));
  if (!proof.ok) return null; // the next read of the certificate requests the proof again
  const fault = findInclusionFault({ leaf, index, hashes: proof.hashes }, { size, root });
  if (fault !== null) throw new Error(`attestations: ${fault}`);
  return { note: checkpoint.note, inclusionProof: proof.hashes.map(toBase64), attestations: checkpoint.attestations };
};

/** Returns whether this deployment has witnesses or timestamp authorities for ledger checkpoints, including authorities that are retired. */
export const hasAttestors = (services: Proofs): boolean => services.attestors.some(({ scope }) => scope === "every log");

/**
 * Returns the attested checkpoint and inclusion proof for the statement of a receipt. Returns null if there is none yet or the lookup
 * fails.
 */
export const getAttestedStatement = async (
  services: AttestationDependencies,
  receipt: Receipt | null,
): Promise<AttestedStatement | null> => {
  if (receipt === null || !hasAttestors(services)) return null;
  const { attestedStatements } = services;
  const cached = attestedStatements.get(receipt.tx_ref);
  if (cached !== undefined) return cached;
  const found = (await runIsolated(services, "attestations", () => findAttestedStatement(services, receipt))) ?? null;
  if (found !== null) attestedStatements.set(receipt.tx_ref, found);
  return found;
};
