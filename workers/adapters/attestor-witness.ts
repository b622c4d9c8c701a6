// A witness over HTTP (c2sp.org/tlog-witness): asks it to cosign a checkpoint of ours. Its cosignature says that it has seen no
// history of this log that contradicts the checkpoint.
import type { AttestationOutcome, Attestor } from "../../core/ledger/attestor.ts";
import type { NoteCrypto, VerifierKey } from "../../core/ledger/note.ts";
import { formatAddCheckpointRequest, parseWitnessedSize, verifyCosignatures } from "../../core/ledger/witness.ts";
import { toIso, minuteMs, secondMs, type Clock } from "../../core/time.ts";
import { sendWithLimits, getMediaType, permanentFailure, failureFromResponse, retryableFailure, type SendRequest } from "./exchange.ts";

export interface Witness {
  /** Of the witness's key; a cosignature by another name is not its. */
  readonly key: VerifierKey;
  /** Its submission prefix, without a trailing slash. */
  readonly baseUrl: string;
}

const timeoutMs = 10 * secondMs;
const maxResponseBytes = 16 * 1_024; // a line has about 150 bytes; room for a hundred, and some of kinds not read here
const clockSlackMs = 5 * minuteMs;

/**
 * Permanent codes worth a look: `superseded` (it has cosigned a larger checkpoint of ours), `conflict` (of this size it has
 * seen another tree), `http_422` (it does not take our proof). The last two mean two histories: ours, or the witness's view.
 */
export const createWitnessAttestor = (witness: Witness, send: SendRequest, crypto: NoteCrypto, clock: Clock): Attestor => {
  const { name } = witness.key;

  const read = async (note: string, answer: string): Promise<AttestationOutcome> => {
    const verdict = await verifyCosignatures(crypto, note, answer, [witness.key]);
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
        const { answer } = sent;
        const text = new TextDecoder().decode(answer.body);
        if (answer.status === 200) return read(note, text);
        if (answer.status !== 409) return failureFromResponse(answer, clock);
        const theirs = parseWitnessedSize(getMediaType(answer.headers), text);
        if (theirs === null || theirs === oldSize) return permanentFailure("conflict");
        if (corrected) return retryableFailure("witness_moved"); // somebody else asks it too
        oldSize = theirs;
      }
      return permanentFailure("superseded");
    },
  };
};
