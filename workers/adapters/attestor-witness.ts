// A witness over HTTP (c2sp.org/tlog-witness): asks it to cosign a checkpoint of ours. Its cosignature says that it has seen no
// history of this log that contradicts the checkpoint.
import type { AttestOutcome, Attestor } from "../../core/ledger/attestor.ts";
import type { NoteCrypto, VerifierKey } from "../../core/ledger/note.ts";
import { addCheckpointText, parseWitnessedSize, verifyCosignatures } from "../../core/ledger/witness.ts";
import { isoOf, minuteMs, secondMs, type Clock } from "../../core/time.ts";
import { exchange, mediaTypeOf, permanent, refusedBy, retry, type SendRequest } from "./exchange.ts";

export interface Witness {
  /** Of the witness's key; a cosignature by another name is not its. */
  readonly key: VerifierKey;
  /** Its submission prefix, without a trailing slash. */
  readonly baseUrl: string;
}

const withinMs = 10 * secondMs;
const maxBytes = 16 * 1_024; // a line has about 150 bytes; room for a hundred, and some of kinds not read here
const clockSlackMs = 5 * minuteMs;

/**
 * Permanent codes worth a look: `superseded` (it has cosigned a larger checkpoint of ours), `conflict` (of this size it has
 * seen another tree), `http_422` (it does not take our proof). The last two mean two histories: ours, or the witness's view.
 */
export const witnessAttestor = (witness: Witness, send: SendRequest, crypto: NoteCrypto, clock: Clock): Attestor => {
  const { name } = witness.key;

  const read = async (note: string, answer: string): Promise<AttestOutcome> => {
    const verdict = await verifyCosignatures(crypto, note, answer, [witness.key]);
    const [cosignature] = verdict.ok ? verdict.cosignatures : [];
    if (cosignature === undefined) return retry(verdict.ok ? "no_known_signature" : verdict.fault);
    const time = Number(cosignature.time) * secondMs;
    if (time > clock() + clockSlackMs) return retry("time_in_future");
    return { ok: true, attestation: { kind: "cosignature", name, time: isoOf(time), line: cosignature.line }, verified: true };
  };

  return {
    kind: "cosignature",
    name,
    attest: async ({ note, size, witnessedSize, consistencyProof }, signal) => {
      let oldSize = witnessedSize;
      for (let corrected = false; oldSize <= size; corrected = true) {
        const proof = oldSize === size ? [] : await consistencyProof(oldSize);
        const body = addCheckpointText({ oldSize, proof, checkpoint: note });
        const headers = { "content-type": "text/plain; charset=utf-8" };
        const url = `${witness.baseUrl}/add-checkpoint`;
        const sent = await exchange(send, url, { method: "POST", headers, body }, { withinMs, maxBytes, signal });
        if (!sent.ok) return sent;
        const { answer } = sent;
        const text = new TextDecoder().decode(answer.body);
        if (answer.status === 200) return read(note, text);
        if (answer.status !== 409) return refusedBy(answer, clock);
        const theirs = parseWitnessedSize(mediaTypeOf(answer.headers), text);
        if (theirs === null || theirs === oldSize) return permanent("conflict");
        if (corrected) return retry("witness_moved"); // somebody else asks it too
        oldSize = theirs;
      }
      return permanent("superseded");
    },
  };
};
