// Repackages a changed pack with the old manifest, a new manifest, or a new signature.
import { toCanonicalJson, type Json } from "../../../core/canonical-json.ts";
import { buildManifestNoteText } from "../../../core/certificates/evidence-manifest.ts";
import { createZip } from "../../../core/certificates/evidence-zip.ts";
import { fromBase64, fromBase64Url, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { keyKinds, signNote, createVerifierKey } from "../../../core/ledger/note.ts";
import { renderPackedPages } from "../../../verifier/certificate-page.ts";
import type { Signer } from "../../../storage/signer.ts";

export type Files = Map<string, Uint8Array>;

/** Creates a generator that returns the same numbers for the same seed, so that a failure can be repeated. */
export const createRandom = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};

export const flipBits = (bytes: Uint8Array, at: number, mask: number): Uint8Array => {
  const changed = bytes.slice();
  changed[at] = (changed[at] as number) ^ mask;
  return changed;
};

export const readText = (files: ReadonlyMap<string, Uint8Array>, path: string): string => new TextDecoder().decode(files.get(path));

export const readJson = (files: ReadonlyMap<string, Uint8Array>, path: string) => JSON.parse(readText(files, path));

export const setText = (files: Files, path: string, text: string): void => {
  files.set(path, encodeUtf8(text));
};

export const setJson = (files: Files, path: string, value: Json): void => setText(files, path, toCanonicalJson(value));

const readCapturedVia = (files: Files): unknown => {
  const lines = readText(files, "audit/entries.jsonl")
    .split("\n")
    .filter((line) => line.includes('"type":"certificate.issued"'));
  return files.has("audit/payloads.json")
    ? readJson(files, "audit/payloads.json")[JSON.parse(lines[0] ?? "{}").seq ?? ""]?.payload?.captured_via
    : undefined;
};

/** Adds the page that an issuer would render for a changed certificate. Leaves the page unchanged if no page can show the certificate. */
export const withFittingPage = (original: ReadonlyMap<string, Uint8Array>): Files => {
  const files = new Map(original);
  const { redacted = [] } = readJson(files, "manifest.json");
  const pages = renderPackedPages({
    files,
    certificate: readJson(files, "certificate.json"),
    redacted,
    loggedCaptureMethod: readCapturedVia(files),
  });
  const [page] = pages ?? [];
  if (page !== undefined) setText(files, "certificate.html", page);
  return files;
};

/** Rewrites the manifest's file lists to match these files. */
export const relistFiles = (original: ReadonlyMap<string, Uint8Array>): Files => {
  const files = new Map(original);
  const paths = [...files.keys()].filter((path) => !path.startsWith("MANIFEST.") && path !== "manifest.json").sort();
  const listed = paths.map((path) => ({ path, size: files.get(path)!.length, sha256: sha256Hex(files.get(path)!) }));
  setJson(files, "manifest.json", { ...readJson(files, "manifest.json"), files: listed });
  const sums = [...paths, "manifest.json"].sort().map((path) => `${sha256Hex(files.get(path)!)}  ${path}\n`);
  setText(files, "MANIFEST.sha256", sums.join(""));
  return files;
};

/** Signs the current checksums with the first key of `signer`, but always under the issuer's key name. */
const signFiles = async (files: Files, signer: Signer): Promise<Files> => {
  const key = createVerifierKey("svc.example/issuer", keyKinds.log, fromBase64Url(signer.publicKeys[0]!.x)!);
  const text = buildManifestNoteText(readJson(files, "manifest.json").cert_id, files.get("MANIFEST.sha256")!);
  setText(files, "MANIFEST.note", await signNote(text, [{ key, sign: async () => fromBase64(await signer.sign(text))! }]));
  return files;
};

/** Rewrites the file lists, then signs. */
export const resignFiles = (original: ReadonlyMap<string, Uint8Array>, signer: Signer): Promise<Files> =>
  signFiles(relistFiles(original), signer);

/** Replaces the list in manifest.json, which may then differ from the files, and signs. */
export const resignWithList = (original: ReadonlyMap<string, Uint8Array>, list: Json, signer: Signer): Promise<Files> => {
  const files = new Map(original);
  setJson(files, "manifest.json", { ...readJson(files, "manifest.json"), files: list });
  const sum = sha256Hex(files.get("manifest.json")!);
  setText(
    files,
    "MANIFEST.sha256",
    readText(files, "MANIFEST.sha256").replace(/^[0-9a-f]{64} {2}manifest\.json$/m, `${sum}  manifest.json`),
  );
  return signFiles(files, signer);
};

export const zipFiles = (files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> => createZip(files);
