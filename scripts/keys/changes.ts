// What a rotation changes in the secrets of a deployment. Each function takes the current secrets and returns only those that change.
import { randomBytes } from "node:crypto";
import { fromBase64, fromBase64Url } from "../../core/bytes.ts";
import { parseKeyWithValidity } from "../../core/ledger/key-validity.ts";
import { parseSkey } from "../../core/ledger/note.ts";
import { minuteMs, toIso } from "../../core/time.ts";
import { openSigner } from "../../storage/signer.ts";
import type { Secrets } from "../deploy/secrets.ts";
import { noteKeyPair } from "../note-secret.ts";

/** Isolates that still have the earlier key can sign for this long after the new one was uploaded. */
const oldKeySignsMs = 10 * minuteMs;

const newKey = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(32));
export const splitWords = (text = ""): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

const requireSecret = (secrets: Secrets, name: string): string => {
  const value = secrets[name];
  if (value === undefined || value === "") throw new Error(`The secrets do not contain ${name}.`);
  return value;
};

/** Lists the versions of the master keys, oldest first. The last one seals. */
export const listMasterKeyVersions = (secrets: Secrets): readonly string[] =>
  requireSecret(secrets, "MASTER_KEYS")
    .split(",")
    .map((part) => part.slice(0, part.indexOf(":")));

/** Adds a master key with the next version. */
export const addMasterKey = (secrets: Secrets): Secrets => {
  const next = Math.max(...listMasterKeyVersions(secrets).map(Number)) + 1;
  return { MASTER_KEYS: `${secrets.MASTER_KEYS},${next}:${Buffer.from(newKey()).toString("base64")}` };
};

/** Keeps only the newest master key. */
export const removeOldMasterKeys = (secrets: Secrets): Secrets => ({
  MASTER_KEYS: requireSecret(secrets, "MASTER_KEYS").split(",").at(-1) as string,
});

/** Replaces the issuer key, and publishes the earlier one with the end of its validity. */
export const replaceIssuerKey = async (secrets: Secrets, now: number): Promise<Secrets> => {
  const earlier = await openSigner(fromBase64(requireSecret(secrets, "ISSUER_KEY")) ?? new Uint8Array(), []);
  const [{ x } = { x: "" }] = earlier.publicKeys;
  if (fromBase64Url(x) === null) throw new Error("ISSUER_KEY is not a key.");
  const from = secrets.ISSUER_KEY_FROM ?? "";
  const period = `${from === "" ? "" : `${from}/`}${toIso(now + oldKeySignsMs)}`;
  return {
    ISSUER_KEY: Buffer.from(newKey()).toString("base64"),
    ISSUER_KEY_FROM: toIso(now),
    RETIRED_ISSUER_KEYS: [...splitWords(secrets.RETIRED_ISSUER_KEYS), `${x}@${period}`].join(" "),
  };
};

type LogSetting = "AUDIT" | "LEDGER";
const getSettingNames = (of: LogSetting) => ({ key: `${of}_KEY`, vkeys: of === "AUDIT" ? "AUDIT_VKEY" : "LEDGER_VKEYS" });

const getVkey = (secret: string): string => {
  const parsed = parseSkey(secret);
  if (parsed === null) throw new Error("A log key is not in note format.");
  return noteKeyPair(parsed.name, parsed.seed, parsed.kind).vkey;
};

/** Lists the public keys of the secrets that sign. */
export const listLogVkeys = (secrets: Secrets, of: LogSetting): readonly string[] =>
  splitWords(secrets[getSettingNames(of).key]).map(getVkey);

/** Adds a second key for each log. Both keys sign from then on. */
export const addLogKeys = (secrets: Secrets, of: LogSetting): Secrets => {
  const names = getSettingNames(of);
  const current = splitWords(requireSecret(secrets, names.key));
  const added = [...new Set(current.map((secret) => parseSkey(secret)?.name ?? ""))].map((name) => noteKeyPair(name, newKey()));
  return {
    [names.key]: [...current, ...added.map(({ secret }) => secret)].join(" "),
    // The embedded ledger publishes the keys that it signs with. The audit log's witness knows only the keys in this setting.
    ...(of === "AUDIT" && { AUDIT_VKEY: [...splitWords(secrets.AUDIT_VKEY), ...added.map(({ vkey }) => vkey)].join(" ") }),
  };
};

/** Keeps only the newest key of each log for signing. The earlier public keys stay published with the end of their validity. */
export const removeOldLogKeys = (secrets: Secrets, of: LogSetting, now: number): Secrets => {
  const names = getSettingNames(of);
  const current = splitWords(requireSecret(secrets, names.key));
  const newest = new Map(current.map((secret) => [parseSkey(secret)?.name, secret]));
  const ended = current.filter((secret) => newest.get(parseSkey(secret)?.name) !== secret).map(getVkey);
  const published = splitWords(secrets[names.vkeys]);
  const others = published.filter((text) => !ended.includes(parseKeyWithValidity(text)?.key ?? ""));
  const end = toIso(now + oldKeySignsMs);
  return {
    [names.key]: [...newest.values()].join(" "),
    [names.vkeys]: [...others, ...ended.map((vkey) => `${vkey}@${end}`)].join(" "),
  };
};
