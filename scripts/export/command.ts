// The commands `npm run admin -- export` and `npm run admin -- import`. docs/operate/export.md explains both.
import { readFileSync } from "node:fs";
import { createLocalStore } from "../keys/stores.ts";
import { ensureDevVars, loadLocalSettings } from "../settings.ts";
import { reserveStateFolder } from "../state-lock.ts";
import { runExport } from "./export.ts";
import { finishImport, runImport } from "./import.ts";

/** Returns the passphrase. If it is not set, throws an error that ends with `hint`, which says what to set it to. */
const readPassphrase = (hint: string): string => {
  const passphrase = process.env.EXPORT_PASSPHRASE ?? "";
  if (passphrase === "") throw new Error(`Set EXPORT_PASSPHRASE to ${hint}`);
  return passphrase;
};

const readServiceVersion = (): string => (JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string }).version;

export const runExportCommand = async (folder: string, report: (text: string) => void): Promise<void> => {
  const passphrase = readPassphrase("the passphrase that encrypts the export. Generate one with: openssl rand -base64 32");
  const { stateDir, extraShards, vars } = loadLocalSettings();
  reserveStateFolder(stateDir);
  report(`Export ${stateDir} to ${folder}:\n`);
  const { files } = await runExport({
    stateDir,
    extraShards,
    vars,
    folder,
    passphrase,
    serviceVersion: readServiceVersion(),
    now: Date.now,
    report,
  });
  report(`\nThe export is complete: ${files.length} files. Store the passphrase separately from the files.`);
};

/** Imports `folder` into the local service, which must have no data. With `isDryRun`, only checks the files. */
export const runImportCommand = async (folder: string, isDryRun: boolean, report: (text: string) => void): Promise<void> => {
  const passphrase = readPassphrase("the passphrase of the export.");
  ensureDevVars();
  const { stateDir, extraShards, vars } = loadLocalSettings();
  if (!isDryRun) reserveStateFolder(stateDir);
  report(`${isDryRun ? "Check" : "Import"} ${folder}:\n`);
  const settings = await runImport({ stateDir, extraShards, vars, folder, passphrase, isDryRun, report });
  if (isDryRun) {
    report("\nEvery file is complete and unchanged. Nothing was imported.");
    return;
  }
  createLocalStore(report).write(settings);
  finishImport({ stateDir });
  report(`\nThe import is complete. .dev.vars has the settings that moved with the data: ${Object.keys(settings).join(", ")}.`);
};
