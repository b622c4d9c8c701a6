// Parses and validates the settings for the ledgers, the audit logs' keys and the attestors. Does not check that a secret key matches its
// key ID, because the code that loads the key does that later. Faults are the names of settings, so that values never appear in a message.
import { fromBase64, encodeUtf8 } from "../bytes.ts";
import { hasRandomKeyBytes, hasRandomTokenCharacters } from "../randomness.ts";
import { parseIJson } from "../i-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../canonical-json.ts";
import { isTlogOrigin } from "./checkpoint.ts";
import { parseAuditOrigin, parseLedgerOrigin } from "./log-names.ts";
import { parseLogSeeds } from "./log-seed.ts";
import { defaultValidFrom, isIsoTime, parseKeyWithValidity, type KeyValidity } from "./key-validity.ts";
import { isKeyName, keyKinds, parseSkey, parseVkey, type KeyKind, type VerifierKey } from "./note.ts";
import type { LedgerKind } from "./receipt.ts";
import { isRekorVkey } from "./rekor-receipt.ts";
import { parseAnchorPrivateKey } from "./rekor.ts";
import type { TimestampPin } from "./rfc3161.ts";

export interface LedgerSettings {
  readonly kind: LedgerKind;
  /** The ledger's ID, `<kind>:<origin>`, as in anchors and receipts. */
  readonly id: string;
  /**
   * The ledger's name. There is one embedded ledger per shard, and this is the name of the first shard's ledger. An external ledger serves
   * all shards.
   */
  readonly origin: string;
  /** The URL of the ledger's API; empty for the embedded ledger. */
  readonly url: string;
  readonly writeToken: string;
  /** Secret keys that the embedded ledgers use instead of derived keys; empty for an external ledger. */
  readonly keys: readonly string[];
  /** The secret key of the embedded ledger's witness; null if the key is derived or the ledger is external. */
  readonly witnessKey: string | null;
  /** Pinned public keys: those of an external ledger, or earlier ones of the embedded ledger. */
  readonly vkeys: readonly string[];
  /** Keys of earlier ledgers. Each half-year has a separate ledger, and proofs from old ledgers stay valid under these keys. */
  readonly retiredKeys: readonly { readonly origin: string; readonly vkey: string }[];
}

/** A ledger that receives only statements about checkpoints. */
export type MirrorSettings = Pick<LedgerSettings, "kind" | "id" | "origin" | "url" | "writeToken" | "vkeys">;

export interface TimestampAuthoritySettings {
  readonly name: string;
  readonly url: string;
  readonly pins: readonly TimestampPin[];
  /** Certificates in PEM format, with which other tools can check the authority's timestamps. Can be empty. */
  readonly pem: string;
}

export interface WitnessSettings {
  readonly key: VerifierKey;
  readonly vkey: string;
  readonly url: string;
}

export interface ProofSettings {
  readonly ledger: LedgerSettings;
  readonly mirrors: readonly MirrorSettings[];
  /** LOG_SEED, the secret from which the keys of all logs are derived. */
  readonly logSeed: string;
  /** Secret keys in note format that audit logs use instead of derived keys. */
  readonly auditKeys: readonly string[];
  /**
   * Earlier public keys of our audit logs, which verify existing proofs. Also the keys of other logs whose checkpoints our ledger's witness
   * cosigns.
   */
  readonly auditVkeys: readonly string[];
  /** The validity periods of ledger and audit log keys, by public key in one-line form. */
  readonly keyValidityByVkey: ReadonlyMap<string, KeyValidity>;
  /** The key that signs statements for Rekor; null if no Rekor ledger is configured. */
  readonly anchorKey: string | null;
  /** Earlier public anchor keys as SPKI, in base64. */
  readonly retiredAnchorKeys: readonly string[];
  readonly authorities: readonly TimestampAuthoritySettings[];
  readonly witnesses: readonly WitnessSettings[];
  /** The number of cosignatures that a checkpoint needs to count as attested. */
  readonly witnessMin: number;
}

type SettingReader = (name: string) => string | undefined;

const splitOnWhitespace = (text: string | undefined): string[] => (text ?? "").split(/\s+/).filter((part) => part !== "");

/**
 * Parses log keys with optional validity periods. A key with a malformed period becomes an empty string, which later validation refuses.
 */
const parseVkeySetting = (
  text: string | undefined,
): { readonly vkeys: readonly string[]; readonly windows: readonly (readonly [string, KeyValidity])[] } => {
  const parsed = splitOnWhitespace(text).map((part) => parseKeyWithValidity(part) ?? { key: "", validFrom: "" });
  return { vkeys: parsed.map(({ key }) => key), windows: parsed.map(({ key, ...window }) => [key, window] as const) };
};

const minTokenLength = 32; // 32 characters of base64url contain 192 bits
const isStrongToken = (text: string): boolean =>
  text.length >= minTokenLength && /^[\x21-\x7e]+$/.test(text) && hasRandomTokenCharacters(text);

/** Returns true if the name's host is localhost or an IP address. Keys with such names were created for development. */
const isLocalKeyName = (name: string): boolean => {
  const host = (name.split("/")[0] as string).toLowerCase().replace(/:\d+$/, "");
  return host === "localhost" || host.endsWith(".localhost") || host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
};

/** Checks the kind and name of a secret in note format. In production, the secret must also be random, and its name must not be local. */
const isValidNoteSecret = (text: string, kind: KeyKind, isAllowedName: (name: string) => boolean, production: boolean): boolean => {
  const secret = parseSkey(text);
  if (secret?.kind !== kind || !isAllowedName(secret.name)) return false;
  return !production || (hasRandomKeyBytes(secret.seed) && !isLocalKeyName(secret.name));
};

const isValidServiceUrl = (text: string, production: boolean, protocols: readonly string[] = ["https:"]): boolean => {
  if (!URL.canParse(text) || text.endsWith("/")) return false;
  const { protocol, username, search, hash } = new URL(text);
  return (protocols.includes(protocol) || (!production && protocol === "http:")) && username === "" && search === "" && hash === "";
};

const isLogVkey = (kind: LedgerKind, text: string): boolean =>
  kind === "rekor2" ? isRekorVkey(text) : parseVkey(text)?.kind === keyKinds.log;

const isLogOrigin = (kind: LedgerKind, text: string): boolean => (kind === "rekor2" ? isKeyName(text) : isTlogOrigin(text));

/** Parses a JSON array of objects with `parse`. If the setting is not set, the list is empty. Returns null if any part is malformed. */
const parseObjectList = <T>(text: string | undefined, parse: (item: JsonObject) => T | null): readonly T[] | null => {
  if (text === undefined) return [];
  const parsed = parseIJson(encodeUtf8(text));
  if (!parsed.ok || !Array.isArray(parsed.value)) return null;
  const all = (parsed.value as readonly Json[]).map((item) => (isJsonObject(item) ? parse(item) : null));
  return all.every((item) => item !== null) ? (all as T[]) : null;
};

const parseStringOrList = (value: Json | undefined): string[] | null => {
  if (typeof value === "string") return [value];
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string") ? (value as string[]) : null;
};

const createMirrorParser =
  (production: boolean) =>
  (item: JsonObject): MirrorSettings | null => {
    const { kind, origin, url, token = "" } = item;
    const vkeys = parseStringOrList(item.vkeys);
    if ((kind !== "tlog" && kind !== "rekor2") || typeof origin !== "string" || typeof url !== "string" || typeof token !== "string")
      return null;
    if (!isLogOrigin(kind, origin) || !isValidServiceUrl(url, production) || vkeys?.every((vkey) => isLogVkey(kind, vkey)) !== true)
      return null;
    if (kind === "tlog" && token === "") return null;
    return { kind, id: `${kind}:${origin}`, origin, url, writeToken: token, vkeys };
  };

/**
 * Parses an authority's settings. Plain http is allowed, because a timestamp is verified by its signature and many public authorities do
 * not offer https.
 */
const parseAuthoritySettings = (item: JsonObject): TimestampAuthoritySettings | null => {
  const { name, url, pem = "", valid_from: validFrom = defaultValidFrom, valid_to: validTo = null } = item;
  const spkis = parseStringOrList(item.spki_sha256);
  if (typeof name !== "string" || name === "" || typeof url !== "string" || typeof pem !== "string") return null;
  if (
    !isValidServiceUrl(url.replace(/\/$/, ""), true, ["https:", "http:"]) ||
    spkis?.every((spki) => /^[0-9a-f]{64}$/i.test(spki)) !== true
  )
    return null;
  if (!isIsoTime(validFrom) || (validTo !== null && (!isIsoTime(validTo) || validFrom >= validTo))) return null;
  const pins = spkis.map((spki) => ({ name, spkiSha256: spki.toLowerCase(), validFrom, ...(validTo !== null && { validTo }) }));
  return { name, url, pins, pem };
};

const createWitnessParser =
  (production: boolean) =>
  (item: JsonObject): WitnessSettings | null => {
    const { vkey, url } = item;
    const key = typeof vkey === "string" ? parseVkey(vkey) : null;
    if (typeof vkey !== "string" || key?.kind !== keyKinds.witness || typeof url !== "string" || !isValidServiceUrl(url, production))
      return null;
    return { key, vkey, url };
  };

const parseLedgerSettings = (
  setting: SettingReader,
  production: boolean,
): { readonly ledger: LedgerSettings; readonly faults: readonly string[] } => {
  const kind = setting("LEDGER_KIND") ?? "tlog";
  const origin = setting("LEDGER_ORIGIN") ?? "";
  const url = setting("LEDGER_URL") ?? "";
  const writeToken = setting("LEDGER_WRITE_TOKEN") ?? "";
  const auditorToken = setting("LEDGER_AUDITOR_TOKEN");
  const keys = splitOnWhitespace(setting("LEDGER_KEY"));
  const { vkeys: allVkeys } = parseVkeySetting(setting("LEDGER_VKEYS"));
  const getKeyName = (vkey: string): string => vkey.slice(0, vkey.indexOf("+"));
  const witnessKey = setting("LEDGER_WITNESS_KEY") ?? null;
  const publicEntries = setting("LEDGER_PUBLIC_ENTRIES") ?? "false";
  const entriesPerSecond = setting("LEDGER_ENTRIES_PER_SECOND") ?? "1";
  const isEmbedded = url === "";
  // A tile log's key has the same name as the log. The embedded ledger consists of one log per shard.
  const isCurrent = (name: string): boolean => (isEmbedded ? parseLedgerOrigin(origin, name) !== null : name === origin);
  const vkeys = allVkeys.filter((vkey) => kind === "rekor2" || isCurrent(getKeyName(vkey)));
  const faults: string[] = [];
  const check = (name: string, isValid: boolean): void => {
    if (!isValid) faults.push(name);
  };
  const validKind: LedgerKind = kind === "rekor2" ? "rekor2" : "tlog";
  check("LEDGER_KIND", kind === validKind && (validKind === "tlog" || !isEmbedded));
  check("LEDGER_ORIGIN", isLogOrigin(validKind, origin) && (!production || !isLocalKeyName(origin)));
  check("LEDGER_WRITE_TOKEN", validKind === "rekor2" || isStrongToken(writeToken));
  check("LEDGER_AUDITOR_TOKEN", auditorToken === undefined || (isStrongToken(auditorToken) && auditorToken !== writeToken));
  check("LEDGER_URL", isEmbedded || isValidServiceUrl(url, production));
  // If LEDGER_ORIGIN is missing, LEDGER_VKEYS is not reported as well: `npm run deploy` can check the settings without the secrets, and
  // LEDGER_ORIGIN is one of them.
  const hasCurrentVkey = isEmbedded || origin === "" || vkeys.length > 0;
  check("LEDGER_VKEYS", hasCurrentVkey && allVkeys.every((key) => isLogVkey(validKind, key)));
  check("LEDGER_PUBLIC_ENTRIES", publicEntries === "true" || publicEntries === "false");
  check("LEDGER_ENTRIES_PER_SECOND", /^[1-9]\d{0,8}$/.test(entriesPerSecond));
  if (isEmbedded) {
    check(
      "LEDGER_KEY",
      keys.every((key) => isValidNoteSecret(key, keyKinds.log, isCurrent, production)),
    );
    check("LEDGER_WITNESS_KEY", witnessKey === null || isValidNoteSecret(witnessKey, keyKinds.witness, isKeyName, production));
  }
  return {
    ledger: {
      kind: validKind,
      id: `${validKind}:${origin}`,
      origin,
      url,
      writeToken,
      keys: isEmbedded ? keys : [],
      witnessKey: isEmbedded ? witnessKey : null,
      vkeys,
      retiredKeys: allVkeys.filter((vkey) => !vkeys.includes(vkey)).map((vkey) => ({ origin: getKeyName(vkey), vkey })),
    },
    faults,
  };
};

/** Returns whether every secret is a valid key for one of our audit logs. */
const areAuditKeys = (secrets: readonly string[], baseUrl: string, production: boolean): boolean => {
  const isOwn = (name: string): boolean => URL.canParse(baseUrl) && parseAuditOrigin(baseUrl, name) !== null;
  return secrets.every((secret) => isValidNoteSecret(secret, keyKinds.log, isOwn, production));
};

const isStrongAnchorKey = (text: string): boolean => {
  const secret = parseAnchorPrivateKey(text);
  return secret !== null && hasRandomKeyBytes(secret.number);
};

/** Parses all settings and returns the names of invalid ones in `faults`. Secrets for development are invalid in production. */
export const parseProofSettings = (
  setting: SettingReader,
  production: boolean,
): { readonly settings: ProofSettings; readonly faults: readonly string[] } => {
  const { ledger, faults: ledgerFaults } = parseLedgerSettings(setting, production);
  const faults = [...ledgerFaults];
  const logSeeds = parseLogSeeds(setting("LOG_SEED"));
  if (logSeeds === null || !logSeeds.every(({ seed }) => hasRandomKeyBytes(seed))) faults.push("LOG_SEED");
  const auditKeys = splitOnWhitespace(setting("AUDIT_KEY"));
  if (!areAuditKeys(auditKeys, setting("BASE_URL") ?? "", production)) faults.push("AUDIT_KEY");
  const { vkeys: auditVkeys, windows: auditWindows } = parseVkeySetting(setting("AUDIT_VKEY"));
  if (!auditVkeys.every((vkey) => isLogVkey("tlog", vkey))) faults.push("AUDIT_VKEY");
  const mirrors = parseObjectList(setting("LEDGER_MIRRORS"), createMirrorParser(production));
  if (mirrors === null || new Set([ledger.id, ...mirrors.map(({ id }) => id)]).size !== mirrors.length + 1) faults.push("LEDGER_MIRRORS");
  const authorities = parseObjectList(setting("TIMESTAMP_AUTHORITIES"), parseAuthoritySettings);
  if (authorities === null || new Set(authorities.map(({ name }) => name)).size !== authorities.length)
    faults.push("TIMESTAMP_AUTHORITIES");
  const witnesses = parseObjectList(setting("WITNESSES"), createWitnessParser(production));
  if (witnesses === null || new Set(witnesses.map(({ key }) => key.name)).size !== witnesses.length) faults.push("WITNESSES");
  const witnessMin = setting("WITNESS_MIN") ?? "0";
  // The ledger's own witness does not count, because it cosigns only audit log checkpoints, not the ledger's own.
  const ledgerWitnesses = (witnesses ?? []).filter(({ url }) => url !== ledger.url);
  if (!/^\d{1,2}$/.test(witnessMin) || Number(witnessMin) > ledgerWitnesses.length) faults.push("WITNESS_MIN");
  const needsAnchorKey = [ledger, ...(mirrors ?? [])].some(({ kind }) => kind === "rekor2");
  const anchorKey = setting("ANCHOR_KEY");
  if (anchorKey === undefined ? needsAnchorKey : !isStrongAnchorKey(anchorKey)) faults.push("ANCHOR_KEY");
  const retiredAnchorKeys = splitOnWhitespace(setting("RETIRED_ANCHOR_KEYS"));
  if (retiredAnchorKeys.some((key) => fromBase64(key) === null)) faults.push("RETIRED_ANCHOR_KEYS");
  return {
    settings: {
      ledger,
      mirrors: mirrors ?? [],
      logSeed: setting("LOG_SEED") ?? "",
      auditKeys,
      auditVkeys,
      keyValidityByVkey: new Map([...parseVkeySetting(setting("LEDGER_VKEYS")).windows, ...auditWindows]),
      anchorKey: needsAnchorKey ? (anchorKey ?? null) : null,
      retiredAnchorKeys,
      authorities: authorities ?? [],
      witnesses: witnesses ?? [],
      witnessMin: Number(witnessMin),
    },
    faults,
  };
};
