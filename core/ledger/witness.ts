// c2sp.org/tlog-witness: the request in which a log asks a witness to cosign a checkpoint, and the witness's response.
import { toBase64, fromBase64 } from "../bytes.ts";
import { fail, type Verdict } from "../result.ts";
import { parseCount, hashLength } from "./merkle.ts";
import { keyKinds, parseNote, verifyNote, type NoteCrypto, type NoteFault, type VerifierKey } from "./note.ts";

export interface AddCheckpointRequest {
  /** The size of the newest checkpoint that the witness has cosigned. */
  readonly oldSize: bigint;
  /** The consistency proof from the tree of size `oldSize` to the checkpoint. */
  readonly proof: readonly Uint8Array[];
  /** The signed checkpoint, unchanged. */
  readonly checkpoint: string;
}

const maxProofLines = 63;

export const formatAddCheckpointRequest = ({ oldSize, proof, checkpoint }: AddCheckpointRequest): string =>
  `${[`old ${oldSize}`, ...proof.map(toBase64)].join("\n")}\n\n${checkpoint}`;

/**
 * Parses a request. Returns null if a line before the empty line is malformed. Does not check the checkpoint, which follows the empty line.
 */
export const parseAddCheckpointRequest = (text: string): AddCheckpointRequest | null => {
  const blank = text.indexOf("\n\n");
  const [first = "", ...lines] = text.slice(0, Math.max(0, blank)).split("\n");
  const oldSize = first.startsWith("old ") ? parseCount(first.slice("old ".length)) : null;
  const proof = lines.map(fromBase64);
  if (oldSize === null || lines.length > maxProofLines || !proof.every((hash) => hash?.length === hashLength)) return null;
  return { oldSize, proof: proof as Uint8Array[], checkpoint: text.slice(blank + 2) };
};

export const sizeMediaType = "text/x.tlog.size";

/**
 * Parses the response of a witness if `oldSize` in the request was wrong. Returns the size of the newest checkpoint that the witness has
 * cosigned, or null if the response is malformed.
 */
export const parseWitnessedSize = (mediaType: string, body: string): bigint | null =>
  mediaType === sizeMediaType && body.endsWith("\n") ? parseCount(body.slice(0, -1)) : null;

export interface Cosignature {
  readonly key: VerifierKey;
  /** The time of the cosignature in seconds since 1970, by the witness's clock. */
  readonly time: bigint;
  /** The signature line with its line break. */
  readonly line: string;
}

export type CosignatureVerdict = Verdict<{ cosignatures: readonly Cosignature[] }, "answer_malformed" | NoteFault>;

/** Verifies the cosignatures on `note` in a witness's response. Ignores lines by keys that are not in `witnesses`. */
export const verifyCosignatures = async (
  crypto: NoteCrypto,
  note: string,
  response: string,
  witnesses: readonly VerifierKey[],
): Promise<CosignatureVerdict> => {
  const text = parseNote(note)?.text;
  const cosigned = parseNote(`${text}\n${response}`);
  if (text === undefined || cosigned?.text !== text) return fail("answer_malformed");
  const keys = witnesses.filter((key) => key.kind === keyKinds.witness);
  const verdict = await verifyNote(crypto, cosigned, keys);
  if (!verdict.ok) return verdict;
  const isKnown = cosigned.signatures.map(({ name, keyId }) => keys.some((key) => key.name === name && key.keyId === keyId));
  const lines = response.split("\n").filter((_, at) => isKnown[at]);
  // The signatures are in the order of `lines`, because `verifyNote` returns one signature for each line by a key in `keys`.
  return { ok: true, cosignatures: verdict.signatures.map(({ key, time }, at) => ({ key, time: time ?? 0n, line: `${lines[at]}\n` })) };
};
