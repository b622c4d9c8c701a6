// The signed text of an evidence pack. In a separate file, because the code that writes packs and the verifier both use it.
import { sha256Hex } from "../hash.ts";

export const packSchema = "svc-evidence-pack-v1";

/** Returns the text that the issuer signs. It covers every file through the hash of MANIFEST.sha256. */
export const buildManifestNoteText = (certId: string, manifestSha256: Uint8Array): string =>
  `${packSchema}\n${certId}\n${sha256Hex(manifestSha256)}\n`;
