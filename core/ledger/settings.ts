// The settings of everything that proves: the ledgers statements go to, the audit log's keys, and who attests checkpoints. Read
// from text and checked as far as text can be; whether a secret's key id is that of its key is for whoever opens it. A value is
// never repeated: a fault is the name of a setting.
import { fromBase64, encodeUtf8 } from "../bytes.ts";
import { hasRandomKeyBytes, hasRandomTokenCharacters } from "../randomness.ts";
import { sha256 } from "../hash.ts";
import { parseIJson } from "../i-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../canonical-json.ts";
import { isTlogOrigin } from "./checkpoint.ts";
import { defaultValidFrom, isIsoTime, parseKeyWithValidity, type KeyValidity } from "./key-validity.ts";
import { isKeyName, keyKinds, parseSkey, parseVkey, type KeyKind, type VerifierKey } from "./note.ts";
import type { LedgerKind } from "./receipt.ts";
import { isRekorVkey } from "./rekor-receipt.ts";
import { parseAnchorPrivateKey } from "./rekor.ts";
import type { TimestampPin } from "./rfc3161.ts";

export interface LedgerSettings {
  readonly kind: LedgerKind;
  /** `<kind>:<origin>`, as in anchors and receipts. */
  readonly id: string;
  readonly origin: string;
  /** Address of the ledger's interface; empty for the embedded one. */
  readonly url: string;
  readonly writeToken: string;
  /** The embedded ledger's own secrets; empty for one elsewhere. */
  readonly keys: readonly string[];
  /** The embedded ledger's witness; null where it has none, and for one elsewhere. */
  readonly witnessKey: string | null;
  /** Public keys pinned in the settings: those of a ledger elsewhere, and earlier ones of the embedded. */
  readonly vkeys: readonly string[];
  /** Keys of the ledgers before this one: each half-year has its own. What is in them is proven under these for good. */
  readonly retiredKeys: readonly { readonly origin: string; readonly vkey: string }[];
}

/** A ledger that takes checkpoints only. */
export type MirrorSettings = Pick<LedgerSettings, "kind" | "id" | "origin" | "url" | "writeToken" | "vkeys">;

export interface TimestampAuthoritySettings {
  readonly name: string;
  readonly url: string;
  readonly pins: readonly TimestampPin[];
  /** Certificates to check its stamps with, for tools that want them; may be empty. */
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
  /** Note-format secrets of the audit log, by shard. */
  readonly auditKeys: ReadonlyMap<number, readonly string[]>;
  /** Public keys of the audit log: those of the secrets, and earlier ones, under which proofs were made that must still verify. */
  readonly auditVkeys: readonly string[];
  /** When keys of the ledger and the audit log were in use, where the settings say so: by vkey. */
  readonly keyValidityByVkey: ReadonlyMap<string, KeyValidity>;
  /** The key that signs statements for Rekor; null where there is no such ledger. */
  readonly anchorKey: string | null;
  /** Public parts of earlier anchor keys: SPKI, base64. */
  readonly retiredAnchorKeys: readonly string[];
  readonly authorities: readonly TimestampAuthoritySettings[];
  readonly witnesses: readonly WitnessSettings[];
  /** So many cosignatures make a checkpoint attested. */
  readonly witnessMin: number;
}

type SettingReader = (name: string) => string | undefined;

const splitOnWhitespace = (text: string | undefined): string[] => (text ?? "").split(/\s+/).filter((word) => word !== "");

/** Public keys of logs, each with the time of its use behind it where somebody wrote one. What has no window is no key. */
const parseVkeySetting = (
  text: string | undefined,
): { readonly vkeys: readonly string[]; readonly windows: readonly (readonly [string, KeyValidity])[] } => {
  const read = splitOnWhitespace(text).map((word) => parseKeyWithValidity(word) ?? { key: "", validFrom: "" });
  return { vkeys: read.map(({ key }) => key), windows: read.map(({ key, ...window }) => [key, window] as const) };
};

const minTokenLength = 32; // characters; 192 bits in base64url
const isStrongToken = (text: string): boolean =>
  text.length >= minTokenLength && /^[\x21-\x7e]+$/.test(text) && hasRandomTokenCharacters(text);

/** Names of this machine: secrets under them were made for development. */
const isLocalKeyName = (name: string): boolean => {
  const host = (name.split("/")[0] as string).toLowerCase().replace(/:\d+$/, "");
  return host === "localhost" || host.endsWith(".localhost") || host.startsWith("[") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
};

/** What a secret must be: note-format, of this kind, under a name that `names` allows; random and not local in production. */
const isValidNoteSecret = (text: string, kind: KeyKind, names: (name: string) => boolean, production: boolean): boolean => {
  const secret = parseSkey(text);
  if (secret?.kind !== kind || !names(secret.name)) return false;
  return !production || (hasRandomKeyBytes(secret.seed) && !isLocalKeyName(secret.name));
};

const isValidServiceUrl = (text: string, production: boolean, protocols: readonly string[] = ["https:"]): boolean => {
  if (!URL.canParse(text) || text.endsWith("/")) return false;
  const { protocol, username, search, hash } = new URL(text);
  return (protocols.includes(protocol) || (!production && protocol === "http:")) && username === "" && search === "" && hash === "";
};

const isLogVkey = (kind: LedgerKind, text: string): boolean =>
  kind === "rekor2" ? isRekorVkey(sha256, text) : parseVkey(sha256, text)?.kind === keyKinds.log;

const isLogOrigin = (kind: LedgerKind, text: string): boolean => (kind === "rekor2" ? isKeyName(text) : isTlogOrigin(text));

/** The members of a list of objects, each read by `read`; null when the text, or any of them, is not what it should be. */
const parseObjectList = <T>(text: string | undefined, read: (one: JsonObject) => T | null): readonly T[] | null => {
  if (text === undefined) return [];
  const parsed = parseIJson(encodeUtf8(text));
  if (!parsed.ok || !Array.isArray(parsed.value)) return null;
  const all = (parsed.value as readonly Json[]).map((one) => (isJsonObject(one) ? read(one) : null));
  return all.every((one) => one !== null) ? (all as T[]) : null;
};

const parseStringOrList = (value: Json | undefined): string[] | null => {
  if (typeof value === "string") return [value];
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string") ? (value as string[]) : null;
};

const createMirrorParser =
  (production: boolean) =>
  (one: JsonObject): MirrorSettings | null => {
    const { kind, origin, url, token = "" } = one;
    const vkeys = parseStringOrList(one.vkeys);
    if ((kind !== "tlog" && kind !== "rekor2") || typeof origin !== "string" || typeof url !== "string" || typeof token !== "string")
      return null;
    if (!isLogOrigin(kind, origin) || !isValidServiceUrl(url, production) || vkeys?.every((vkey) => isLogVkey(kind, vkey)) !== true)
      return null;
    if (kind === "tlog" && token === "") return null;
    return { kind, id: `${kind}:${origin}`, origin, url, writeToken: token, vkeys };
  };

/** Stamps prove themselves, and many public authorities answer plain http only. */
const parseAuthoritySettings = (one: JsonObject): TimestampAuthoritySettings | null => {
  const { name, url, pem = "", valid_from: validFrom = defaultValidFrom, valid_to: validTo = null } = one;
  const spkis = parseStringOrList(one.spki_sha256);
  if (typeof name !== "string" || name === "" || typeof url !== "string" || typeof pem !== "string") return null;
  if (!isValidServiceUrl(url.replace(/\/$/, ""), true, ["https:", "http:"]) || spkis?.every((spki) => /^[0-9a-f]{64}$/.test(spki)) !== true)
    return null;
  if (!isIsoTime(validFrom) || (validTo !== null && !isIsoTime(validTo))) return null;
  const pins = spkis.map((spkiSha256) => ({ name, spkiSha256, validFrom, ...(validTo !== null && { validTo }) }));
  return { name, url, pins, pem };
};

const createWitnessParser =
  (production: boolean) =>
  (one: JsonObject): WitnessSettings | null => {
    const { vkey, url } = one;
    const key = typeof vkey === "string" ? parseVkey(sha256, vkey) : null;
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
  const nameOf = (vkey: string): string => vkey.slice(0, vkey.indexOf("+"));
  const vkeys = allVkeys.filter((vkey) => kind === "rekor2" || nameOf(vkey) === origin); // our log's key bears its name
  const witnessKey = setting("LEDGER_WITNESS_KEY") ?? null;
  const publicEntries = setting("LEDGER_PUBLIC_ENTRIES") ?? "false";
  const entriesPerSecond = setting("LEDGER_ENTRIES_PER_SECOND") ?? "1";
  const isEmbedded = url === "";
  const faults: string[] = [];
  const refuse = (name: string, isFit: boolean): void => {
    if (!isFit) faults.push(name);
  };
  const known: LedgerKind = kind === "rekor2" ? "rekor2" : "tlog";
  refuse("LEDGER_KIND", kind === known && (known === "tlog" || !isEmbedded));
  refuse("LEDGER_ORIGIN", isLogOrigin(known, origin) && (!production || !isLocalKeyName(origin)));
  refuse("LEDGER_WRITE_TOKEN", known === "rekor2" || isStrongToken(writeToken));
  refuse("LEDGER_AUDITOR_TOKEN", auditorToken === undefined || (isStrongToken(auditorToken) && auditorToken !== writeToken));
  refuse("LEDGER_URL", isEmbedded || isValidServiceUrl(url, production));
  refuse("LEDGER_VKEYS", allVkeys.every((key) => isLogVkey(known, key)) && (isEmbedded || vkeys.length > 0));
  refuse("LEDGER_PUBLIC_ENTRIES", publicEntries === "true" || publicEntries === "false");
  refuse("LEDGER_ENTRIES_PER_SECOND", /^[1-9]\d{0,8}$/.test(entriesPerSecond));
  if (isEmbedded) {
    const isOwn = (name: string): boolean => name === origin;
    refuse("LEDGER_KEY", keys.length > 0 && keys.every((key) => isValidNoteSecret(key, keyKinds.log, isOwn, production)));
    refuse("LEDGER_WITNESS_KEY", witnessKey === null || isValidNoteSecret(witnessKey, keyKinds.witness, isKeyName, production));
  }
  return {
    ledger: {
      kind: known,
      id: `${known}:${origin}`,
      origin,
      url,
      writeToken,
      keys: isEmbedded ? keys : [],
      witnessKey: isEmbedded ? witnessKey : null,
      vkeys,
      retiredKeys: allVkeys.filter((vkey) => !vkeys.includes(vkey)).map((vkey) => ({ origin: nameOf(vkey), vkey })),
    },
    faults,
  };
};

/** Secrets of the audit log are told apart by their names: `<host>/audit/<shard>`. Null unless there is a fit one of shard 0. */
const parseAuditKeys = (text: string | undefined, production: boolean): ReadonlyMap<number, readonly string[]> | null => {
  const shards = new Map<number, string[]>();
  for (const secret of splitOnWhitespace(text)) {
    const shard = /\/audit\/(0|[1-9]\d{0,3})$/.exec(parseSkey(secret)?.name ?? "")?.[1];
    if (shard === undefined || !isValidNoteSecret(secret, keyKinds.log, isTlogOrigin, production)) return null;
    shards.set(Number(shard), [...(shards.get(Number(shard)) ?? []), secret]);
  }
  return shards.has(0) ? shards : null;
};

/** A witness that knows no key of an audit log refuses all its checkpoints: found out here, not in the logs. One of two is enough, while one replaces the other. */
const hasEveryAuditLogKey = (vkeys: readonly string[], auditKeys: ReadonlyMap<number, readonly string[]>): boolean => {
  const watched = vkeys.map((vkey) => parseVkey(sha256, vkey));
  const isWatched = (secret: string): boolean => {
    const own = parseSkey(secret);
    return watched.some((key) => key?.name === own?.name && key?.keyId === own?.keyId);
  };
  return [...auditKeys.values()].every((secrets) => secrets.some(isWatched));
};

const isStrongAnchorKey = (text: string): boolean => {
  const secret = parseAnchorPrivateKey(text);
  return secret !== null && hasRandomKeyBytes(secret.number);
};

/** Everything at once: the settings, and the names of those that are not fit. In production development secrets are not fit. */
export const parseProofSettings = (
  setting: SettingReader,
  production: boolean,
): { readonly settings: ProofSettings; readonly faults: readonly string[] } => {
  const { ledger, faults: ledgerFaults } = parseLedgerSettings(setting, production);
  const faults = [...ledgerFaults];
  const auditKeys = parseAuditKeys(setting("AUDIT_KEY"), production);
  if (auditKeys === null) faults.push("AUDIT_KEY");
  const { vkeys: auditVkeys, windows: auditWindows } = parseVkeySetting(setting("AUDIT_VKEY"));
  const isWatching = auditKeys === null || ledger.witnessKey === null || hasEveryAuditLogKey(auditVkeys, auditKeys);
  if (!isWatching || !auditVkeys.every((vkey) => isLogVkey("tlog", vkey))) faults.push("AUDIT_VKEY");
  const mirrors = parseObjectList(setting("LEDGER_MIRRORS"), createMirrorParser(production));
  if (mirrors === null || new Set([ledger.id, ...mirrors.map(({ id }) => id)]).size !== mirrors.length + 1) faults.push("LEDGER_MIRRORS");
  const authorities = parseObjectList(setting("TIMESTAMP_AUTHORITIES"), parseAuthoritySettings);
  if (authorities === null || new Set(authorities.map(({ name }) => name)).size !== authorities.length)
    faults.push("TIMESTAMP_AUTHORITIES");
  const witnesses = parseObjectList(setting("WITNESSES"), createWitnessParser(production));
  if (witnesses === null || new Set(witnesses.map(({ key }) => key.name)).size !== witnesses.length) faults.push("WITNESSES");
  const witnessMin = setting("WITNESS_MIN") ?? "0";
  // The ledger's own witness watches the audit log alone: it says nothing of the checkpoints that anchors are attested by.
  const watching = (witnesses ?? []).filter(({ url }) => url !== ledger.url);
  if (!/^\d{1,2}$/.test(witnessMin) || Number(witnessMin) > watching.length) faults.push("WITNESS_MIN");
  const needsAnchorKey = [ledger, ...(mirrors ?? [])].some(({ kind }) => kind === "rekor2");
  const anchorKey = setting("ANCHOR_KEY");
  if (anchorKey === undefined ? needsAnchorKey : !isStrongAnchorKey(anchorKey)) faults.push("ANCHOR_KEY");
  const retiredAnchorKeys = splitOnWhitespace(setting("RETIRED_ANCHOR_KEYS"));
  if (retiredAnchorKeys.some((key) => fromBase64(key) === null)) faults.push("RETIRED_ANCHOR_KEYS");
  return {
    settings: {
      ledger,
      mirrors: mirrors ?? [],
      auditKeys: auditKeys ?? new Map(),
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
