// Sigstore's Rekor v2 as a ledger: the request that logs a digest with our signature of the statement, the leaf it becomes, and
// the answer. Receipts made of it are in rekor-receipt.ts. Rekor tells no time and, for an entry it has already, no proof.
import { toBase64, fromBase64, fromBase64Url, encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson, isJsonObject, type Json } from "../canonical-json.ts";
import type { Bytes } from "../hash.ts";
import { parseIJson } from "../i-json.ts";
import { parseCount, hashLength } from "./merkle.ts";
import type { NoteCrypto } from "./note.ts";
import { p256PrivateKeyFromPkcs8 } from "./spki.ts";

export interface RekorCrypto extends NoteCrypto {
  /** ECDSA over SHA-256 of the message, the key as SPKI, the signature as DER. False for whatever is not that. */
  readonly verifyEcdsa: (spki: Uint8Array, message: Uint8Array, signature: Uint8Array) => Promise<boolean>;
}

/** A P-256 key that signs statements: as PKCS #8, or as a JWK. `number` is its secret number. */
export type AnchorPrivateKey =
  | { readonly format: "pkcs8"; readonly pkcs8: Bytes; readonly number: Bytes }
  | { readonly format: "jwk"; readonly jwk: Readonly<Record<"kty" | "crv" | "x" | "y" | "d", string>>; readonly number: Bytes };

/** Base64 of PKCS #8, or the text of a private JWK; null for anything else. */
export const parseAnchorPrivateKey = (text: string): AnchorPrivateKey | null => {
  const pkcs8 = fromBase64(text);
  const inside = pkcs8 === null ? null : p256PrivateKeyFromPkcs8(pkcs8);
  if (pkcs8 !== null && inside !== null) return { format: "pkcs8", pkcs8, number: inside };
  const jwk = text.startsWith("{") ? parseJsonBytes(encodeUtf8(text)) : undefined;
  const [kty, crv, x, y, d] = ["kty", "crv", "x", "y", "d"].map((name) => getMember(jwk, name));
  if (kty !== "EC" || crv !== "P-256" || typeof x !== "string" || typeof y !== "string" || typeof d !== "string") return null;
  const [number, ...point] = [d, x, y].map(fromBase64Url);
  if (number?.length !== 32 || !point.every((coordinate) => coordinate?.length === 32)) return null;
  return { format: "jwk", jwk: { kty, crv, x, y, d }, number };
};

const keyDetails = "PKIX_ECDSA_P256_SHA_256";

/** What of an entry is ours; base64. */
export interface RekorEntry {
  /** SHA-256 of the statement. */
  readonly digest: string;
  /** DER of the ECDSA signature over the statement. */
  readonly signature: string;
  /** SPKI of the anchor key, which made it. */
  readonly publicKey: string;
}

const toRekorSignature = ({ signature, publicKey }: RekorEntry) => ({
  content: signature,
  verifier: { keyDetails, publicKey: { rawBytes: publicKey } },
});

/** The text of the request. ECDSA signatures are random: made twice it is another entry, so it is kept and sent again as it is. */
export const formatRekorRequest = (entry: RekorEntry): string =>
  toCanonicalJson({ hashedRekordRequestV002: { digest: entry.digest, signature: toRekorSignature(entry) } });

/** The leaf that Rekor makes of the request. */
export const formatRekorLeaf = (entry: RekorEntry): string =>
  toCanonicalJson({
    apiVersion: "0.0.2",
    kind: "hashedrekord",
    spec: { hashedRekordV002: { data: { algorithm: "SHA2_256", digest: entry.digest }, signature: toRekorSignature(entry) } },
  });

/** The member at the end of `path`; undefined when any of them is missing. */
const getMember = (value: Json | undefined, ...path: readonly string[]): Json | undefined => {
  let here = value;
  for (const name of path) {
    if (!isJsonObject(here) || !Object.hasOwn(here, name)) return undefined;
    here = here[name];
  }
  return here;
};

const parseJsonBytes = (bytes: Uint8Array): Json | undefined => {
  const parsed = parseIJson(bytes);
  return parsed.ok ? parsed.value : undefined;
};

/** The entry whose digest and signature stand there; null unless `print` gives exactly this text for it. */
const parseEntryParts = (text: string, digest: Json | undefined, signature: Json | undefined, print: (entry: RekorEntry) => string) => {
  const content = getMember(signature, "content");
  const publicKey = getMember(signature, "verifier", "publicKey", "rawBytes");
  if (typeof digest !== "string" || typeof content !== "string" || typeof publicKey !== "string") return null;
  const entry: RekorEntry = { digest, signature: content, publicKey };
  return print(entry) === text ? entry : null;
};

/** Null unless `rekorRequestText` prints exactly this text. */
export const parseRekorRequest = (text: string): RekorEntry | null => {
  const request = getMember(parseJsonBytes(encodeUtf8(text)), "hashedRekordRequestV002");
  return parseEntryParts(text, getMember(request, "digest"), getMember(request, "signature"), formatRekorRequest);
};

/** Null unless `rekorLeafText` prints exactly these bytes. */
export const parseRekorLeaf = (leaf: Uint8Array): RekorEntry | null => {
  const record = getMember(parseJsonBytes(leaf), "spec", "hashedRekordV002");
  const text = String.fromCharCode(...leaf.subarray(0, 4_096)); // a leaf of ours is ASCII, with its key about 500 bytes
  return parseEntryParts(text, getMember(record, "data", "digest"), getMember(record, "signature"), formatRekorLeaf);
};

/** Whether a leaf is our signature of the statement, by one of our anchor keys (SPKI, base64). */
export const createRekorLeafCheck =
  (crypto: RekorCrypto, anchorKeys: readonly string[]) =>
  async (leaf: Uint8Array, statement: Uint8Array): Promise<boolean> => {
    const entry = parseRekorLeaf(leaf);
    const spki = fromBase64(entry?.publicKey ?? "");
    const signature = fromBase64(entry?.signature ?? "");
    if (entry === null || spki === null || signature === null) return false;
    if (entry.digest !== toBase64(crypto.sha256(statement)) || !anchorKeys.includes(entry.publicKey)) return false;
    return crypto.verifyEcdsa(spki, statement, signature);
  };

export interface RekorResponse {
  readonly index: bigint;
  readonly leaf: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  /** The signed checkpoint, not verified yet. */
  readonly note: string;
}

/** What of a TransparencyLogEntry matters; size and root are read from the signed checkpoint only. Null when it is not one. */
export const parseRekorResponse = (body: Uint8Array): RekorResponse | null => {
  const answer = parseJsonBytes(body);
  const index = getMember(answer, "logIndex");
  const leaf = getMember(answer, "canonicalizedBody");
  const note = getMember(answer, "inclusionProof", "checkpoint", "envelope");
  const hashes = getMember(answer, "inclusionProof", "hashes");
  const count = typeof index === "string" ? parseCount(index) : null;
  const leafBytes = typeof leaf === "string" ? fromBase64(leaf) : null;
  if (getMember(answer, "kindVersion", "kind") !== "hashedrekord" || getMember(answer, "kindVersion", "version") !== "0.0.2") return null;
  if (count === null || leafBytes === null || typeof note !== "string" || !Array.isArray(hashes)) return null;
  const proof = hashes.map((hash: Json) => (typeof hash === "string" ? fromBase64(hash) : null));
  if (!proof.every((hash) => hash?.length === hashLength)) return null;
  return { index: count, leaf: leafBytes, hashes: proof as Uint8Array[], note };
};
