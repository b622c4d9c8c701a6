// Checks that the issuer signed the pack: compares the files with the manifest, and checks the signature on the manifest.
import { toBase64Url, fromBase64 } from "../core/bytes.ts";
import { toCanonicalJson, type Json } from "../core/canonical-json.ts";
import { buildManifestNoteText, packSchema } from "../core/certificates/evidence-manifest.ts";
import type { PackFiles } from "../core/certificates/evidence-zip.ts";
import { sha256Hex } from "../core/hash.ts";
import { isKeyInUse, isIsoTime } from "../core/ledger/key-validity.ts";
import { keyKinds, parseNote, createVerifierKey, verifyNote, type NoteCrypto } from "../core/ledger/note.ts";
import { fail, incomplete, pass, skipped, type Finding } from "./checks.ts";
import { hasExactMembers, asObject, parseCanonical, asString, asStrings, decodeText } from "./json.ts";
import { computeThumbprint, type Trust } from "./trust.ts";

export interface Manifest {
  readonly certId: string;
  readonly createdAt: string;
  readonly redacted: readonly string[];
}

/** Parses manifest.json. Returns null unless it is canonical JSON with the expected schema. */
export const parseManifest = (files: PackFiles): (Manifest & { readonly listed: Json }) | null => {
  const record = asObject(parseCanonical(decodeText(files.get("manifest.json"))));
  if (record === null || !hasExactMembers(record, ["schema", "cert_id", "created_at", "redacted", "files"])) return null;
  const certId = asString(record.cert_id);
  const redacted = asStrings(record.redacted);
  if (record.schema !== packSchema || certId === null || redacted === null || !isIsoTime(record.created_at)) return null;
  return { certId, createdAt: record.created_at, redacted, listed: record.files ?? null };
};

const isManifestFile = (path: string): boolean => path.startsWith("MANIFEST.");

/**
 * Checks that manifest.json and MANIFEST.sha256 list exactly the other files in the pack, in the order and format in which packs are
 * written.
 */
export const checkFiles = (files: PackFiles): Finding => {
  const manifest = parseManifest(files);
  if (manifest === null) return fail("manifest.json is not a manifest");
  const sums = decodeText(files.get("MANIFEST.sha256")) ?? "";
  const listedHashes = new Map(sums.split("\n").map((line) => [line.slice(66), line.slice(0, 64)]));
  const paths = [...files.keys()].sort();
  const summed = paths.filter((path) => !isManifestFile(path));
  for (const path of summed) {
    if (listedHashes.get(path) !== sha256Hex(files.get(path) as Uint8Array)) return fail(`${path} does not match MANIFEST.sha256`);
  }
  if (sums !== summed.map((path) => `${listedHashes.get(path)}  ${path}\n`).join(""))
    return fail("MANIFEST.sha256 does not list exactly these files");
  const listed = summed
    .filter((path) => path !== "manifest.json")
    .map((path) => ({ path, sha256: listedHashes.get(path) as string, size: (files.get(path) as Uint8Array).length }));
  if (toCanonicalJson(manifest.listed) !== toCanonicalJson(listed)) return fail("manifest.json does not list exactly these files");
  return pass(`${summed.length} files`);
};

const spkiLength = 44; // RFC 8410: a 12-byte prefix and the 32 bytes of an Ed25519 key

/** Returns the thumbprint of the key in a PEM file, or null if the file is malformed. */
const parseIssuerKeyId = (pem: string | null): string | null => {
  const body = /^-----BEGIN PUBLIC KEY-----\n([A-Za-z0-9+/]+=*)\n-----END PUBLIC KEY-----\n$/.exec(pem ?? "")?.[1];
  const der = fromBase64(body ?? "");
  return der?.length === spkiLength ? computeThumbprint(toBase64Url(der.subarray(-32))) : null;
};

/**
 * Checks the PEM copies of keys and certificates, which the pack contains for other tools. Each issuer key must match the key ID in its
 * file name, and each authority's certificate must match one in trust.json.
 */
export const checkTrustCopies = (files: PackFiles): Finding => {
  const document = asObject(parseCanonical(decodeText(files.get("trust/trust.json"))));
  if (document === null) return skipped("trust.json cannot be read");
  const authorities = (Array.isArray(document.tsa) ? document.tsa : []).map(asObject);
  const pems = [...files.keys()].filter((path) => path.startsWith("trust/") && path.endsWith(".pem"));
  const mismatch = pems.find((path) => {
    const text = decodeText(files.get(path));
    const [, kind, id = ""] = /^trust\/(issuer|tsa)-(.+)\.pem$/.exec(path) ?? [];
    if (kind === "issuer") return parseIssuerKeyId(text) !== id;
    return !authorities.some((authority) => authority?.pem === text && asString(authority.spki_sha256)?.startsWith(id) === true);
  });
  return mismatch === undefined ? pass(`${pems.length} keys`) : fail(`${mismatch} does not match its name`);
};

export const checkSignature = async (crypto: NoteCrypto, files: PackFiles, trust: Trust | null): Promise<Finding> => {
  const manifest = parseManifest(files);
  if (manifest === null) return fail("manifest.json is not a manifest");
  const note = parseNote(decodeText(files.get("MANIFEST.note")) ?? "");
  if (note === null) return fail("MANIFEST.note is not a signed note");
  if (note.text !== buildManifestNoteText(manifest.certId, files.get("MANIFEST.sha256") as Uint8Array)) {
    return fail("MANIFEST.note is for a different manifest");
  }
  if (trust === null || trust.issuerKeys.length === 0) return incomplete("no trusted issuer key to check it with");
  // The signer of a note chooses the name in it. The issuer's public keys are therefore tried with every name in the note.
  const names = [...new Set(note.signatures.map(({ name }) => name))];
  const issuerKeys = trust.issuerKeys.filter((key) => isKeyInUse(key, manifest.createdAt));
  const keys = names.flatMap((name) => issuerKeys.map(({ publicKey }) => createVerifierKey(name, keyKinds.log, publicKey)));
  const verdict = await verifyNote(crypto, note, keys);
  return verdict.ok ? pass(`by ${verdict.signatures[0]?.key.name}, ${manifest.createdAt}`) : fail(verdict.fault);
};
