import { fromBase64, fromHex, toBase64 } from "../../../core/bytes.ts";
import type { AttestedStatement } from "../../../core/certificates/attested-statement.ts";
import { sha256 } from "../../../core/hash.ts";
import { firstShard } from "../../../core/ids.ts";
import { getCheckpointInterval } from "../../../core/ledger/checkpoint-interval.ts";
import type { Receipt } from "../../../core/ledger/receipt.ts";
import { findInclusionFault } from "../../../core/ledger/tlog-proof.ts";
import { secondMs } from "../../../core/time.ts";
import { findAttestedCheckpoint } from "../../../storage/checkpoints.ts";
import { runIsolated } from "../../log.ts";
import type { Proofs } from "../dependencies.ts";
import type { AttestationDependencies } from "./dependencies.ts";

const inclusionTimeoutMs = 2 * secondMs;

// a ledger that is slow is not waited for by somebody who reads a certificate

const findAttestedStatement = async (platform: AttestationDependencies, receipt: Receipt): Promise<AttestedStatement | null> => {
  const { config, ledgers } = platform;
  const [ledger] = ledgers;
  const leaf = fromBase64(receipt.leaf_hash);
  if (ledger === undefined || leaf === null || receipt.ledger !== ledger.id) return null;
  const checkpoint = await findAttestedCheckpoint(platform.shards.get(firstShard), {
    origin: config.ledger.origin,
    index: receipt.leaf_index,
    sinceWindow: getCheckpointInterval(Date.parse(receipt.submitted_at)),
    witnessMin: config.witnessMin,
    needsStamp: config.authorities.length > 0,
  });
  const root = checkpoint === null ? null : fromHex(checkpoint.root);
  if (checkpoint === null || root === null) return null;
  const index = BigInt(receipt.leaf_index);
  const size = BigInt(checkpoint.size);
  const proof = await ledger.getInclusionProof(index, size, AbortSignal.timeout(inclusionTimeoutMs));
  if (!proof.ok) return null; // it is shown the next time somebody looks
  const fault = findInclusionFault({ sha256 }, { leaf, index, hashes: proof.hashes }, { size, root });
  if (fault !== null) throw new Error(`attestations: ${fault}`);
  return { note: checkpoint.note, inclusionProof: proof.hashes.map(toBase64), attestations: checkpoint.attestations };
};

export const hasAttestors = (platform: Proofs): boolean => platform.attestors.some(({ scope }) => scope === "every log");

/** What others attested about the statement of a receipt; null while nobody has. Found once, it stays what it is. */
export const getAttestedStatement = async (
  platform: AttestationDependencies,
  receipt: Receipt | null,
): Promise<AttestedStatement | null> => {
  if (receipt === null || !hasAttestors(platform)) return null;
  const { attestedStatements } = platform;
  const kept = attestedStatements.get(receipt.tx_ref);
  if (kept !== undefined) return kept;
  const found = (await runIsolated(platform, "attestations", () => findAttestedStatement(platform, receipt))) ?? null;
  if (found !== null) attestedStatements.set(receipt.tx_ref, found);
  return found;
};
