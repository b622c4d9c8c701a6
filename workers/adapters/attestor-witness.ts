// Requests a witness's cosignature on a checkpoint over HTTP (c2sp.org/tlog-witness). A cosignature confirms that the witness has seen no
// log history that contradicts the checkpoint.
import type { AttestationOutcome, Attestor } from "../../core/ledger/attestor.ts";
import type { NoteCrypto, VerifierKey } from "../../core/ledger/note.ts";
import { formatAddCheckpointRequest, parseWitnessedSize, verifyCosignatures } from "../../core/ledger/witness.ts";
import { toIso, minuteMs, secondMs, type Clock } from "../../core/time.ts";
import { sendWithLimits, getMediaType, permanentFailure, failureFromResponse, retryableFailure, type SendRequest } from "./exchange.ts";

export interface Witness {
  /** The witness's key. Cosignatures under another name or key are ignored. */
  readonly key: VerifierKey;
  /** The witness's submission prefix without a trailing slash. */
  readonly baseUrl: string;
}

const timeoutMs = 10 * secondMs;
const maxResponseBytes = 16 * 1_024; // a signature line takes about 150 bytes, so this is enough for a hundred, including unsupported kinds
const clockSlackMs = 5 * minuteMs;

/**
 * Creates an attestor for a witness. Besides refusals such as `http_403`, these failures are permanent:
 * - `superseded`: the witness has cosigned a larger checkpoint.
 * - `conflict`: the witness has seen a different tree of the same size, or its 409 response is malformed.
 * - `http_422`: the witness rejects the consistency proof.
 *
 * A different tree or a rejected proof means that two histories of this log exist, or that the witness is faulty.
 */
export const createWitnessAttestor = (witness: Witness, send: SendRequest, crypto: NoteCrypto, clock: Clock): Attestor => {
  const { name } = witness.key;

  const parseCosignature = async (note: string, response: string): Promise<AttestationOutcome> => {
    const verdict = await verifyCosignatures(crypto, note, response, [witness.key]);
    const [cosignature] = verdict.ok ? verdict.cosignatures : [];
    if (cosignature === undefined) return retryableFailure(verdict.ok ? "no_known_signature" : verdict.fault);
    const time = Number(cosignature.time) * secondMs;
    if (time > clock() + clockSlackMs) return retryableFailure("time_in_future");
    return { ok: true, attestation: { kind: "cosignature", name, time: toIso(time), line: cosignature.line }, verified: true };
  };

  return {
    kind: "cosignature",
    name,
    attest: async ({ note, size, witnessedSize, getConsistencyProof }, signal) => {
      let oldSize = witnessedSize;
      for (let corrected = false; oldSize <= size; corrected = true) {
        const proof = oldSize === size ? [] : await getConsistencyProof(oldSize);
        const body = formatAddCheckpointRequest({ oldSize, proof, checkpoint: note });
        const headers = { "content-type": "text/plain; charset=utf-8" };
        const url = `${witness.baseUrl}/add-checkpoint`;
        const sent = await sendWithLimits(send, url, { method: "POST", headers, body }, { timeoutMs, maxBytes: maxResponseBytes, signal });
        if (!sent.ok) return sent;
        const { response } = sent;
        const text = new TextDecoder().decode(response.body);
        if (response.status === 200) return parseCosignature(note, text);
        if (response.status !== 409) return failureFromResponse(response, clock);
        const knownSize = parseWitnessedSize(getMediaType(response.headers), text);
        if (knownSize === null || knownSize === oldSize) return permanentFailure("conflict");
        // The witness has cosigned a checkpoint from another client since our first attempt.
        if (corrected) return retryableFailure("witness_moved");
        oldSize = knownSize;
      }
      return permanentFailure("superseded");
    },
  };
};
