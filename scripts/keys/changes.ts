// Computes what a rotation changes in the secrets of a deployment. Each function that changes secrets takes the current secrets and returns
// only the changed ones.
import { randomBytes } from "node:crypto";
import { addNextLinkKey, defaultLinkKeys, parseLinkKeys, removeEarlierLinkKeys, useNextLinkKey } from "../../core/access/link-keys.ts";
import { fromBase64, fromBase64Url } from "../../core/bytes.ts";
import { dayMs, minuteMs, toIso } from "../../core/time.ts";
import { openSigner } from "../../storage/signer.ts";
import type { Secrets } from "../deploy/secrets.ts";

/** After a new key is uploaded, isolates that still have the earlier key can sign for this long. */
const oldKeySignsMs = 10 * minuteMs;

/**
 * A withdrawal that covers many certificates is completed in the background. Receipts that are signed after the rotation can contain the
 * time of a request before it, so the new key must be valid from an earlier time. The work takes minutes, or until a shard that does not
 * respond is back.
 */
const oldestReceiptMs = 7 * dayMs;

const newKey = (): Uint8Array<ArrayBuffer> => new Uint8Array(randomBytes(32));
export const splitWords = (text = ""): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

const requireSecret = (secrets: Secrets, name: string): string => {
  const value = secrets[name];
  if (value === undefined || value === "") throw new Error(`The secrets do not contain ${name}.`);
  return value;
};

/** Lists the versions of the master keys, oldest first. The last version encrypts new data. */
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

/** Replaces the issuer key. The earlier key stays published, with the end of its validity. */
export const replaceIssuerKey = async (secrets: Secrets, now: number): Promise<Secrets> => {
  const earlier = await openSigner(fromBase64(requireSecret(secrets, "ISSUER_KEY")) ?? new Uint8Array(), []);
  const [{ x } = { x: "" }] = earlier.publicKeys;
  if (fromBase64Url(x) === null) throw new Error("ISSUER_KEY is not a key.");
  const from = secrets.ISSUER_KEY_FROM ?? "";
  const period = `${from === "" ? "" : `${from}/`}${toIso(now + oldKeySignsMs)}`;
  return {
    ISSUER_KEY: Buffer.from(newKey()).toString("base64"),
    ISSUER_KEY_FROM: toIso(now - oldestReceiptMs),
    RETIRED_ISSUER_KEYS: [...splitWords(secrets.RETIRED_ISSUER_KEYS), `${x}@${period}`].join(" "),
  };
};

/** The settings that list several keys, one of which is used for new tokens or rows. Each token and each stored index names its key. */
type NamedKeys = "LINK_KEYS" | "INDEX_ENCRYPTION_KEYS";

/** Adds a key. The service uses it to accept tokens or to search for rows, but not yet for new tokens or rows. */
export const addKeyTo =
  (name: NamedKeys) =>
  (secrets: Secrets): Secrets => ({ [name]: addNextLinkKey(secrets[name], newKey()) });

/** Makes the service use the newest key for new tokens or rows. */
export const useNewKeyOf =
  (name: NamedKeys) =>
  (secrets: Secrets): Secrets => ({ [name]: useNextLinkKey(requireSecret(secrets, name)) });

/** Keeps only the newest key. Tokens and rows that need an earlier key are no longer accepted or found. */
export const removeOldKeysOf =
  (name: NamedKeys) =>
  (secrets: Secrets): Secrets => ({ [name]: removeEarlierLinkKeys(requireSecret(secrets, name)) });

/** Returns the name of the key that the service should use to encrypt the indexes of new rows. */
export const getCurrentIndexKey = ({ INDEX_ENCRYPTION_KEYS: text }: Secrets): string => {
  const keys = text === undefined || text === "" ? defaultLinkKeys : parseLinkKeys(text);
  if (keys === null) throw new Error("INDEX_ENCRYPTION_KEYS is not a list of keys.");
  return keys.current.name;
};

/** Adds a second log seed. From then on, each log whose keys are derived signs with the keys from both seeds. */
export const addLogSeed = (secrets: Secrets): Secrets => ({
  LOG_SEED: `${requireSecret(secrets, "LOG_SEED")} ${Buffer.from(newKey()).toString("base64")}`,
});

/**
 * Moves the end of the earlier keys in prepared secrets, as if the secrets had been prepared `now`. If the upload was delayed, the earlier
 * keys have signed until now, and those signatures must stay valid.
 */
export const postponeEnd = (prepared: Secrets, preparedAt: number, now: number): Secrets => {
  const [end, laterEnd] = [toIso(preparedAt + oldKeySignsMs), toIso(now + oldKeySignsMs)];
  return Object.fromEntries(Object.entries(prepared).map(([name, value]) => [name, value.replaceAll(end, laterEnd)]));
};

/** Ends all log seeds except the newest. Their keys stay published, with the end of their validity. */
export const endOldLogSeeds = (secrets: Secrets, now: number): Secrets => {
  const seeds = splitWords(requireSecret(secrets, "LOG_SEED"));
  const end = toIso(now + oldKeySignsMs);
  return { LOG_SEED: seeds.map((seed, at) => (at === seeds.length - 1 || seed.includes("@") ? seed : `${seed}@${end}`)).join(" ") };
};
