// The manifest of an export: what it contains, how its key is protected, and an authentication code over both.
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { toCanonicalJson } from "../../core/canonical-json.ts";

export const exportFormat = "svc-export-1";
export const manifestName = "manifest.json";

// An attacker who has the files could guess a short passphrase, in spite of scrypt. The command in the error message generates 44
// characters.
const minPassphraseLength = 20;

/** With this cost, each guess of the passphrase needs 128 MiB and about half a second. */
const scryptCost = { N: 2 ** 17, r: 8, p: 1 } as const;
const scryptMemory = 256 * 1_048_576;

/** What a file contains. The names of objects are only in the encrypted contents, not in the paths of the files. */
export type FileKind = "settings" | "table" | "object" | "texts";

export interface ExportedFile {
  readonly path: string;
  readonly kind: FileKind;
  /** Name of the shard. Present only if the file contains a table. */
  readonly shard?: string;
  readonly sha256: string;
  readonly bytes: number;
  /** Number of lines of JSON, including headers. */
  readonly lines: number;
}

/** The export's random key, encrypted with a key derived from the passphrase. */
interface ProtectedKey {
  readonly kdf: "scrypt";
  readonly n: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly sealed: string;
}

export interface Manifest {
  readonly format: typeof exportFormat;
  readonly created_at: string;
  readonly service_version: string;
  /** The value of `computeStateSignature`. An interrupted export continues only if the state still has this value. */
  readonly state_signature: string;
  readonly migrations: readonly string[];
  readonly shards: readonly string[];
  readonly key: ProtectedKey;
  readonly files: readonly ExportedFile[];
}

const derivePassphraseKey = (passphrase: string, salt: Uint8Array, { n, r, p }: Pick<ProtectedKey, "n" | "r" | "p">): Buffer =>
  scryptSync(passphrase.normalize("NFC"), salt, 32, { N: n, r, p, maxmem: scryptMemory });

/** Creates the key of an export. Throws if the passphrase is shorter than 20 characters. */
export const createExportKey = (passphrase: string): { readonly exportKey: Uint8Array; readonly key: ProtectedKey } => {
  if (passphrase.length < minPassphraseLength)
    throw new Error(`EXPORT_PASSPHRASE must have at least ${minPassphraseLength} characters. Generate one with: openssl rand -base64 32`);
  const exportKey = randomBytes(32);
  const salt = randomBytes(16);
  const cost = { n: scryptCost.N, r: scryptCost.r, p: scryptCost.p };
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", derivePassphraseKey(passphrase, salt, cost), nonce);
  const sealed = Buffer.concat([nonce, cipher.update(exportKey), cipher.final(), cipher.getAuthTag()]);
  return { exportKey, key: { kdf: "scrypt", ...cost, salt: salt.toString("base64"), sealed: sealed.toString("base64") } };
};

/** Returns the key of an export. Throws if the passphrase is wrong or the cost is not the one that this format uses. */
const openExportKey = (passphrase: string, key: ProtectedKey): Uint8Array => {
  if (key.kdf !== "scrypt" || key.n !== scryptCost.N || key.r !== scryptCost.r || key.p !== scryptCost.p)
    throw new Error("The manifest names a key derivation that this version does not support.");
  const sealed = Buffer.from(key.sealed, "base64");
  const decipher = createDecipheriv(
    "aes-256-gcm",
    derivePassphraseKey(passphrase, Buffer.from(key.salt, "base64"), key),
    sealed.subarray(0, 12),
    { authTagLength: 16 },
  ).setAuthTag(sealed.subarray(-16));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  } catch {
    throw new Error("EXPORT_PASSPHRASE is not the passphrase for this export.");
  }
};

const computeMac = (manifest: Manifest, exportKey: Uint8Array): Buffer =>
  createHmac("sha256", exportKey)
    .update(`svc-export-1 manifest\n${toCanonicalJson(manifest as never)}`)
    .digest();

/** Writes a manifest in one step, so that a crash leaves the old or the new file. */
export const writeManifest = (path: string, manifest: Manifest, exportKey: Uint8Array): void => {
  const signed = { ...manifest, mac: computeMac(manifest, exportKey).toString("base64") };
  writeFileSync(`${path}.new`, `${JSON.stringify(signed, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};

const parseManifest = (path: string): Manifest & { readonly mac: string } => {
  try {
    const parsed = JSON.parse(readFileSync(path, "utf8")) as Manifest & { readonly mac: string };
    if (parsed.format === exportFormat) return parsed;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
  }
  throw new Error(`${path} is not an export that this version can read.`);
};

/** Reads a manifest. Throws if its format is unknown, the passphrase is wrong, or the manifest was changed. */
export const readManifest = (path: string, passphrase: string): { readonly manifest: Manifest; readonly exportKey: Uint8Array } => {
  const { mac, ...manifest } = parseManifest(path);
  const exportKey = openExportKey(passphrase, manifest.key);
  const actualMac = Buffer.from(String(mac), "base64");
  const expected = computeMac(manifest, exportKey);
  if (actualMac.length !== expected.length || !timingSafeEqual(actualMac, expected)) throw new Error(`${path} was changed.`);
  return { manifest, exportKey };
};
