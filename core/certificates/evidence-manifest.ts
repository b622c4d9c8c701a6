// What is signed of an evidence pack, for its writer and its reader.
import { sha256Hex } from "../hash.ts";

export const packSchema = "svc-evidence-pack-v1";

/** The text that the issuer signs: through the hash of MANIFEST.sha256 it covers every file. */
export const buildManifestNoteText = (certId: string, manifestSha256: Uint8Array): string =>
  `${packSchema}\n${certId}\n${sha256Hex(manifestSha256)}\n`;
