// Selects the settings that move with the data of a deployment, and derives the key that wraps the data keys inside an export.
import { hkdfSync } from "node:crypto";
import { fromBase64 } from "../../core/bytes.ts";
import { getAuditOrigin } from "../../core/ledger/log-names.ts";
import { firstShard } from "../../core/ids.ts";
import { openVault, type Rewrapper } from "../../storage/vault.ts";

export type Vars = Readonly<Record<string, string>>;

/**
 * The settings that stored data depends on: indexes depend on INDEX_KEY and INDEX_ENCRYPTION_KEYS, links on LINK_KEYS, signatures on the
 * keys of the issuer and the logs, and receipts on the names of the ledgers. MASTER_KEYS is not among them, because the importing
 * deployment has its own.
 */
const movedSettings = [
  "INDEX_KEY",
  "INDEX_ENCRYPTION_KEYS",
  "LINK_KEYS",
  "ISSUER_KEY",
  "ISSUER_KEY_FROM",
  "RETIRED_ISSUER_KEYS",
  "LOG_SEED",
  "AUDIT_KEY",
  "AUDIT_VKEY",
  "LEDGER_ORIGIN",
  "LEDGER_KEY",
  "LEDGER_VKEYS",
  "LEDGER_WITNESS_KEY",
  "ANCHOR_KEY",
  "RETIRED_ANCHOR_KEYS",
] as const;

export interface MovedSettings {
  /** Name of the first shard's audit log. It contains the host of the API. */
  readonly audit_origin: string;
  readonly settings: Vars;
}

export const collectMovedSettings = (vars: Vars): MovedSettings => ({
  audit_origin: getAuditOrigin(vars.BASE_URL as string, firstShard),
  settings: Object.fromEntries(
    movedSettings.flatMap((name) => {
      const value = vars[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  ),
});

/**
 * Returns the settings to save after an import. A moved setting that the exported deployment does not use becomes empty. Otherwise, a value
 * of the importing deployment would stay in use, and links or signatures would not match the data.
 */
export const toImportedSettings = ({ settings }: MovedSettings, vars: Vars): Vars =>
  Object.fromEntries(
    movedSettings
      .filter((name) => settings[name] !== undefined || (vars[name] ?? "") !== "")
      .map((name) => [name, settings[name] ?? ""] as const),
  );

/**
 * Throws if the logs' names in this deployment differ from those in the export. The names are part of the existing entries and checkpoints,
 * so they must stay the same.
 */
export const assertSameLogNames = ({ audit_origin: origin }: MovedSettings, vars: Vars): void => {
  const auditOrigin = getAuditOrigin(vars.BASE_URL as string, firstShard);
  if (auditOrigin !== origin)
    throw new Error(
      `The audit log of the export is ${origin}, but here it would be ${auditOrigin}. The names of logs are signed, so the API must keep its host.`,
    );
};

/**
 * The version of the key that wraps data keys in an export. A deployment numbers its own key versions from 1, so they never reach this one.
 */
const exportVersion = "9999";

const parseMasterKeys = (vars: Vars): readonly (readonly [string, Uint8Array<ArrayBuffer>])[] =>
  (vars.MASTER_KEYS ?? "").split(",").map((part) => {
    const [version = "", key = ""] = part.split(":", 2);
    const bytes = fromBase64(key);
    if (bytes === null || version === exportVersion) throw new Error("MASTER_KEYS is not a list of master keys.");
    return [version, bytes];
  });

const deriveWrappingKey = (exportKey: Uint8Array): readonly [string, Uint8Array<ArrayBuffer>] => [
  exportVersion,
  new Uint8Array(hkdfSync("sha256", exportKey, "", "svc-export-1 data keys", 32)),
];

const unusedIndexKey = new Uint8Array(32); // rewrapping does not compute an index, so the key does not matter

/** Returns a rewrapper that unwraps data keys with a deployment's master keys and wraps them again with an export's key. */
export const openExportRewrapper = (vars: Vars, exportKey: Uint8Array): Promise<Rewrapper> =>
  openVault({ masterKeys: new Map([...parseMasterKeys(vars), deriveWrappingKey(exportKey)]), indexKey: unusedIndexKey });

/** Returns a rewrapper that unwraps data keys with an export's key and wraps them again with a deployment's newest master key. */
export const openImportRewrapper = (vars: Vars, exportKey: Uint8Array): Promise<Rewrapper> =>
  openVault({ masterKeys: new Map([deriveWrappingKey(exportKey), ...parseMasterKeys(vars)]), indexKey: unusedIndexKey });
