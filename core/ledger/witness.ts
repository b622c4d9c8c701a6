// c2sp.org/tlog-witness: the request by which a log asks a witness to cosign a checkpoint, and what the witness may answer.
import { toBase64, fromBase64 } from "../bytes.ts";
import { fail, type Verdict } from "../result.ts";
import { parseCount, hashLength } from "./merkle.ts";
import { keyKinds, parseNote, verifyNote, type NoteCrypto, type NoteFault, type VerifierKey } from "./note.ts";

export interface AddCheckpointRequest {
  /** Size of the newest checkpoint the witness has cosigned. */
  readonly oldSize: bigint;
  /** Leads from the tree of that size to the checkpoint's. */
  readonly proof: readonly Uint8Array[];
  /** The signed checkpoint, verbatim. */
  readonly checkpoint: string;
}

const maxProofLines = 63;

export const formatAddCheckpointRequest = ({ oldSize, proof, checkpoint }: AddCheckpointRequest): string =>
  `${[`old ${oldSize}`, ...proof.map(toBase64)].join("\n")}\n\n${checkpoint}`;

/** Null unless `addCheckpointText` prints exactly this text. What stands behind the empty line is not looked at. */
export const parseAddCheckpointRequest = (text: string): AddCheckpointRequest | null => {
  const blank = text.indexOf("\n\n");
  const [first = "", ...lines] = text.slice(0, Math.max(0, blank)).split("\n");
  const oldSize = first.startsWith("old ") ? parseCount(first.slice("old ".length)) : null;
  const proof = lines.map(fromBase64);
  if (oldSize === null || lines.length > maxProofLines || !proof.every((hash) => hash?.length === hashLength)) return null;
  return { oldSize, proof: proof as Uint8Array[], checkpoint: text.slice(blank + 2) };
};

export const sizeMediaType = "text/x.tlog.size";

/** What a witness says when it has cosigned another size than we thought: its own. Null unless it is spelt as the format has it. */
export const parseWitnessedSize = (mediaType: string, body: string): bigint | null =>
  mediaType === sizeMediaType && body.endsWith("\n") ? parseCount(body.slice(0, -1)) : null;

export interface Cosignature {
  readonly key: VerifierKey;
  /** Seconds since 1970, by the witness's clock. */
  readonly time: bigint;
  /** As it goes below the note's own signature, with its line break. */
  readonly line: string;
}

export type CosignatureVerdict = Verdict<{ cosignatures: readonly Cosignature[] }, "answer_malformed" | NoteFault>;

/** The cosignatures of `note` by `witnesses` in a witness's answer. Lines by keys that are not pinned say nothing. */
export const verifyCosignatures = async (
  crypto: NoteCrypto,
  note: string,
  answer: string,
  witnesses: readonly VerifierKey[],
): Promise<CosignatureVerdict> => {
  const text = parseNote(note)?.text;
  const cosigned = parseNote(`${text}\n${answer}`);
  if (text === undefined || cosigned?.text !== text) return fail("answer_malformed");
  const keys = witnesses.filter((key) => key.kind === keyKinds.witness);
  const verdict = await verifyNote(crypto, cosigned, keys);
  if (!verdict.ok) return verdict;
  const isKnown = cosigned.signatures.map(({ name, keyId }) => keys.some((key) => key.name === name && key.keyId === keyId));
  const lines = answer.split("\n").filter((_, at) => isKnown[at]);
  // one verified signature for each line by a known key, in the order of the lines
  return { ok: true, cosignatures: verdict.signatures.map(({ key, time }, at) => ({ key, time: time ?? 0n, line: `${lines[at]}\n` })) };
};
