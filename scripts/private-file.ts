// Writes files that contain secrets.
import { renameSync, writeFileSync } from "node:fs";

/** Replaces a file that only its owner can read. After a crash, the file is either the old or the new one, never a partly written one. */
export const replacePrivateFile = (path: string, text: string): void => {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};
