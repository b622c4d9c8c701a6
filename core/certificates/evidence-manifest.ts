// The signed text of an evidence pack, shared by its writer and its verifier.
import { sha256Hex } from "../hash.ts";

export const packSchema = "svc-evidence-pack-v1";

/** Returns the text the issuer signs. It covers every file through the hash of MANIFEST.sha256. */
export const buildManifestNoteText = (certId: string, manifestSha256: Uint8Array): string =>
  `${packSchema}\n${certId}\n${sha256Hex(manifestSha256)}\n`;
