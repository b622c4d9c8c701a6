// Sends checkpoints to attestors: witnesses and timestamp authorities.
import { fromBase64 } from "../../core/bytes.ts";
import type { AttestationOutcome, Attestor, AttestationRequest } from "../../core/ledger/attestor.ts";
import { parseAuditOrigin } from "../../core/ledger/log-names.ts";
import { secondMs } from "../../core/time.ts";
import { getWitnessedSize, type DueAttestation, type RequestedAttestor } from "../../storage/checkpoints.ts";
import type { Database } from "../../storage/database.ts";
import { findPrimaryLedger } from "../operations/attestations/find-primary-ledger.ts";
import type { Platform } from "../platform/platform.ts";

/**
 * Creates a function that proves that the log's tree of this size extends an earlier tree. An audit log builds the proof itself. For a
 * ledger, the function builds the proof from the ledger's tiles.
 */
const createConsistencyProver =
  (platform: Platform, origin: string, size: bigint, signal: AbortSignal): AttestationRequest["getConsistencyProof"] =>
  async (fromSize) => {
    const ledger = findPrimaryLedger(platform, ({ origin: name }) => name === origin);
    if (ledger !== undefined) {
      const proof = await ledger.getConsistencyProof(fromSize, size, signal);
      if (!proof.ok) throw new Error(`attestations: ${"code" in proof ? proof.code : proof.kind}`);
      return proof.hashes;
    }
    const auditLog = parseAuditOrigin(platform.config.baseUrl, origin);
    if (auditLog === null) throw new Error("attestations: the log is not one of ours");
    const hashes = await platform.auditLogStub(auditLog).buildConsistencyProof(fromSize.toString(), size.toString());
    return hashes.map((hash) => fromBase64(hash) ?? new Uint8Array(0));
  };

/** Lists the attestors that attest every log and are in use. They receive the checkpoint later, in the background. */
export const listGeneralAttestors = ({ attestors, clock }: Platform): RequestedAttestor[] =>
  attestors
    .filter(({ scope, isInUse }) => scope === "every log" && isInUse?.(clock()) !== false)
    .map(({ kind, name }) => ({ kind, name, attestation: null }));

/** Sends a checkpoint to one attestor. The call can take up to 30 seconds. */
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
