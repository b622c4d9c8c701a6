// What others attest of checkpoints, as it is shown with every statement that an attested checkpoint covers. Nothing waits for it.
import { base64Of, bytesOfBase64, bytesOfHex } from "../../core/bytes.ts";
import type { AttestedStatement } from "../../core/certificates/attested.ts";
import type { PublishedAnchor, PublishedCertificate } from "../../core/certificates/published.ts";
import { sha256 } from "../../core/hash.ts";
import { firstHome } from "../../core/ids.ts";
import { parseReceipt, type Receipt } from "../../core/ledger/receipt.ts";
import { inclusionFault } from "../../core/ledger/tlog-proof.ts";
import { secondMs } from "../../core/time.ts";
import { attestedCheckpoint } from "../../storage/checkpoints.ts";
import { failingAlone } from "../log.ts";
import type { Memories, Proofs, Runtime, Stores } from "../services.ts";
import { checkpointInterval } from "../../core/ledger/checkpoint-interval.ts";

const shownWithinMs = 2 * secondMs; // a ledger that is slow is not waited for by somebody who reads a certificate

const findAttested = async (platform: Runtime & Stores & Proofs, receipt: Receipt): Promise<AttestedStatement | null> => {
  const { config, ledgers } = platform;
  const [ledger] = ledgers;
  const leaf = bytesOfBase64(receipt.leaf_hash);
  if (ledger === undefined || leaf === null || receipt.ledger !== ledger.id) return null;
  const checkpoint = await attestedCheckpoint(platform.homes.at(firstHome), {
    origin: config.ledger.origin,
    index: receipt.leaf_index,
    sinceWindow: checkpointInterval(Date.parse(receipt.submitted_at)),
    witnessMin: config.witnessMin,
    needsStamp: config.authorities.length > 0,
  });
  const root = checkpoint === null ? null : bytesOfHex(checkpoint.root);
  if (checkpoint === null || root === null) return null;
  const index = BigInt(receipt.leaf_index);
  const size = BigInt(checkpoint.size);
  const proof = await ledger.inclusion(index, size, AbortSignal.timeout(shownWithinMs));
  if (!proof.ok) return null; // it is shown the next time somebody looks
  const fault = inclusionFault({ sha256 }, { leaf, index, hashes: proof.hashes }, { size, root });
  if (fault !== null) throw new Error(`attestations: ${fault}`);
  return { note: checkpoint.note, inclusionProof: proof.hashes.map(base64Of), attestations: checkpoint.attestations };
};

const isAttesting = (platform: Proofs): boolean => platform.attestors.some(({ of }) => of === "every log");

/** What others attested about the statement of a receipt; null while nobody has. Found once, it stays what it is. */
export const attestedStatement = async (
  platform: Runtime & Stores & Memories & Proofs,
  receipt: Receipt | null,
): Promise<AttestedStatement | null> => {
  if (receipt === null || !isAttesting(platform)) return null;
  const { attestedStatements } = platform;
  const kept = attestedStatements.get(receipt.tx_ref);
  if (kept !== undefined) return kept;
  const found = (await failingAlone(platform, "attestations", () => findAttested(platform, receipt))) ?? null;
  if (found !== null) attestedStatements.set(receipt.tx_ref, found);
  return found;
};

/** The anchor with what others attested of it. */
export const withAttested = async (
  platform: Runtime & Stores & Memories & Proofs,
  anchor: PublishedAnchor | null,
): Promise<PublishedAnchor | null> => {
  if (anchor?.status !== "anchored" || anchor.receipt === null || !isAttesting(platform)) return anchor;
  return { ...anchor, attested: await attestedStatement(platform, parseReceipt(anchor.receipt)) };
};

/** The certificate with what others attested of its issuance, and of its withdrawal. */
export const attestedCertificate = async (
  platform: Runtime & Stores & Memories & Proofs,
  certificate: PublishedCertificate,
): Promise<PublishedCertificate> => {
  const { withdrawal } = certificate;
  const [anchor, revocation] = await Promise.all([
    withAttested(platform, certificate.anchor),
    withAttested(platform, withdrawal?.anchor ?? null),
  ]);
  return { ...certificate, anchor, withdrawal: withdrawal === null ? null : { ...withdrawal, anchor: revocation } };
};
