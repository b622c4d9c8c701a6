// The formats of Sigstore's Rekor v2: the request (a digest and our signature on the statement), the resulting leaf, and the response.
// Rekor's response contains no time. If Rekor already has the entry, the response contains no proof either.
import { toBase64, fromBase64, fromBase64Url, encodeUtf8 } from "../bytes.ts";
import { toCanonicalJson, isJsonObject, type Json } from "../canonical-json.ts";
import { sha256, type Bytes } from "../hash.ts";
import { parseIJson } from "../i-json.ts";
import { parseCount, hashLength } from "./merkle.ts";
import type { NoteCrypto } from "./note.ts";
import { p256PrivateKeyFromPkcs8 } from "./spki.ts";

export interface RekorCrypto extends NoteCrypto {
  /**
   * Verifies ECDSA over the SHA-256 of the message. The key is in SPKI form, and the signature is in DER. Returns false for malformed
   * input.
   */
  readonly verifyEcdsa: (spki: Uint8Array, message: Uint8Array, signature: Uint8Array) => Promise<boolean>;
}

/** A P-256 key that signs statements. `number` is the secret scalar, 32 bytes. */
export type AnchorPrivateKey =
  | { readonly format: "pkcs8"; readonly pkcs8: Bytes; readonly number: Bytes }
  | { readonly format: "jwk"; readonly jwk: Readonly<Record<"kty" | "crv" | "x" | "y" | "d", string>>; readonly number: Bytes };

/** Parses a P-256 private key from base64 PKCS #8 or from the text of a JWK. Returns null for anything else. */
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

/** The parts of an entry that this service supplies, in base64. */
export interface RekorEntry {
  /** The SHA-256 of the statement. */
  readonly digest: string;
  /** The ECDSA signature over the statement, in DER. */
  readonly signature: string;
  /** The anchor key that signed, as SPKI. */
  readonly publicKey: string;
}

const toRekorSignature = ({ signature, publicKey }: RekorEntry) => ({
  content: signature,
  verifier: { keyDetails, publicKey: { rawBytes: publicKey } },
});

/**
 * Returns the request text. ECDSA signatures are randomized, so a retry must send the stored text. If it sent a new one, Rekor would log a
 * second entry.
 */
export const formatRekorRequest = (entry: RekorEntry): string =>
  toCanonicalJson({ hashedRekordRequestV002: { digest: entry.digest, signature: toRekorSignature(entry) } });

/** Returns the leaf that Rekor creates from the request. */
export const formatRekorLeaf = (entry: RekorEntry): string =>
  toCanonicalJson({
    apiVersion: "0.0.2",
    kind: "hashedrekord",
    spec: { hashedRekordV002: { data: { algorithm: "SHA2_256", digest: entry.digest }, signature: toRekorSignature(entry) } },
  });

/** Returns the property at `path`, or undefined if any part is missing. */
const getMember = (value: Json | undefined, ...path: readonly string[]): Json | undefined => {
  let current = value;
  for (const name of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
};

const parseJsonBytes = (bytes: Uint8Array): Json | undefined => {
  const parsed = parseIJson(bytes);
  return parsed.ok ? parsed.value : undefined;
};

/** Parses the parts of an entry. Returns null unless formatting them with `format` results in exactly `text`. */
const parseEntryParts = (text: string, digest: Json | undefined, signature: Json | undefined, format: (entry: RekorEntry) => string) => {
  const content = getMember(signature, "content");
  const publicKey = getMember(signature, "verifier", "publicKey", "rawBytes");
  if (typeof digest !== "string" || typeof content !== "string" || typeof publicKey !== "string") return null;
  const entry: RekorEntry = { digest, signature: content, publicKey };
  return format(entry) === text ? entry : null;
};

/** Parses a request. Returns null unless the text is exactly what `formatRekorRequest` returns for the entry. */
export const parseRekorRequest = (text: string): RekorEntry | null => {
  const request = getMember(parseJsonBytes(encodeUtf8(text)), "hashedRekordRequestV002");
  return parseEntryParts(text, getMember(request, "digest"), getMember(request, "signature"), formatRekorRequest);
};

/** Parses a leaf. Returns null unless the bytes are exactly what `formatRekorLeaf` returns for the entry. */
export const parseRekorLeaf = (leaf: Uint8Array): RekorEntry | null => {
  const record = getMember(parseJsonBytes(leaf), "spec", "hashedRekordV002");
  const text = String.fromCharCode(...leaf.subarray(0, 4_096)); // the leaves of this service are ASCII and about 500 bytes long
  return parseEntryParts(text, getMember(record, "data", "digest"), getMember(record, "signature"), formatRekorLeaf);
};

/**
 * Creates a function that checks that a leaf contains a valid signature on the statement, made with one of the anchor keys (SPKI, base64).
 */
export const createRekorLeafCheck =
  (crypto: RekorCrypto, anchorKeys: readonly string[]) =>
  async (leaf: Uint8Array, statement: Uint8Array): Promise<boolean> => {
    const entry = parseRekorLeaf(leaf);
    const spki = fromBase64(entry?.publicKey ?? "");
    const signature = fromBase64(entry?.signature ?? "");
    if (entry === null || spki === null || signature === null) return false;
    if (entry.digest !== toBase64(sha256(statement)) || !anchorKeys.includes(entry.publicKey)) return false;
    return crypto.verifyEcdsa(spki, statement, signature);
  };

export interface RekorResponse {
  readonly index: bigint;
  readonly leaf: Uint8Array;
  readonly hashes: readonly Uint8Array[];
  /** The signed checkpoint, which has not been verified yet. */
  readonly note: string;
}

/**
 * Parses a TransparencyLogEntry. Ignores the tree size and root, because only the signed checkpoint is trusted for them. Returns null if
 * the response is malformed.
 */
export const parseRekorResponse = (body: Uint8Array): RekorResponse | null => {
  const response = parseJsonBytes(body);
  const index = getMember(response, "logIndex");
  const leaf = getMember(response, "canonicalizedBody");
  const note = getMember(response, "inclusionProof", "checkpoint", "envelope");
  const hashes = getMember(response, "inclusionProof", "hashes");
  const count = typeof index === "string" ? parseCount(index) : null;
  const leafBytes = typeof leaf === "string" ? fromBase64(leaf) : null;
  if (getMember(response, "kindVersion", "kind") !== "hashedrekord" || getMember(response, "kindVersion", "version") !== "0.0.2")
    return null;
  if (count === null || leafBytes === null || typeof note !== "string" || !Array.isArray(hashes)) return null;
  const proof = hashes.map((hash: Json) => (typeof hash === "string" ? fromBase64(hash) : null));
  if (!proof.every((hash) => hash?.length === hashLength)) return null;
  return { index: count, leaf: leafBytes, hashes: proof as Uint8Array[], note };
};
