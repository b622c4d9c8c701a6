// Parses the trust document (/.well-known/svc-trust.json), which contains the keys that a reader trusts. Ignores unknown members. If a
// known member is malformed, the whole document is invalid, because trusting only part of it is not safe.
import { toBase64Url, fromBase64, fromBase64Url } from "../core/bytes.ts";
import { sha256 } from "../core/hash.ts";
import { defaultValidFrom, isKeyInUse, isIsoTime, type KeyValidity } from "../core/ledger/key-validity.ts";
import { keyKinds, parseVkey, type VerifierKey } from "../core/ledger/note.ts";
import { isRekorVkey } from "../core/ledger/rekor-receipt.ts";
import type { TrustedLogKey } from "../core/ledger/receipt.ts";
import type { TimestampPin } from "../core/ledger/rfc3161.ts";
import type { JsonObject } from "../core/canonical-json.ts";
import { isSha256Hex, asObject, asString } from "./json.ts";

export interface IssuerKey extends KeyValidity {
  /** The key's RFC 7638 thumbprint. */
  readonly kid: string;
  readonly publicKey: Uint8Array<ArrayBuffer>;
}

export interface Trust {
  /** Logs that anchor statements (ledgers). */
  readonly ledgers: readonly TrustedLogKey[];
  /** Logs of audit entries. Proofs from these logs are never accepted as proofs from a ledger. */
  readonly auditLogs: readonly TrustedLogKey[];
  readonly witnesses: readonly VerifierKey[];
  readonly witnessMin: number;
  readonly authorities: readonly TimestampPin[];
  readonly issuerKeys: readonly IssuerKey[];
  /** The public keys that verify the issuer's signatures on Rekor entries, as SPKI in base64. */
  readonly anchorKeys: readonly string[];
}

const parseOptionalList = <T>(value: unknown, parse: (item: unknown) => T | null): readonly T[] | null => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  const all = value.map(parse);
  return all.every((item) => item !== null) ? all : null;
};

/** Parses a key's validity period, whose start and end are both optional. Returns null if the period is invalid. */
const parseKeyValidity = (record: JsonObject): KeyValidity | null => {
  const from = record.valid_from ?? defaultValidFrom;
  const to = record.valid_to ?? null;
  if (!isIsoTime(from) || (to !== null && !isIsoTime(to))) return null;
  return to === null ? { validFrom: from } : { validFrom: from, validTo: to };
};

const logRoles: readonly unknown[] = ["primary", "mirror", "audit"];

const parseTrustedLog = (value: unknown): (TrustedLogKey & { readonly role: unknown }) | null => {
  const record = asObject(value);
  const window = record === null ? null : parseKeyValidity(record);
  const origin = asString(record?.origin);
  const vkey = asString(record?.vkey);
  if (record === null || window === null || origin === null || vkey === null || !logRoles.includes(record.role)) return null;
  return isRekorVkey(vkey) && vkey.startsWith(`${origin}+`) ? { origin, vkey, ...window, role: record.role } : null;
};

const parseWitnessKey = (value: unknown): VerifierKey | null => {
  const key = typeof value === "string" ? parseVkey(value) : null;
  return key?.kind === keyKinds.witness ? key : null;
};

const parseTimestampPin = (value: unknown): TimestampPin | null => {
  const record = asObject(value);
  const window = record === null ? null : parseKeyValidity(record);
  const name = asString(record?.name);
  return record !== null && window !== null && name !== null && isSha256Hex(record.spki_sha256)
    ? { name, spkiSha256: record.spki_sha256, ...window }
    : null;
};

/** Returns the RFC 7638 thumbprint of an Ed25519 key, in base64url. */
export const computeThumbprint = (x: string): string => toBase64Url(sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`));

const parseIssuerKey = (value: unknown): IssuerKey | null => {
  const record = asObject(value);
  const x = asString(record?.x) ?? "";
  const publicKey = fromBase64Url(x);
  if (record?.kty !== "OKP" || record.crv !== "Ed25519" || publicKey?.length !== 32) return null;
  const kid = computeThumbprint(x);
  const window = parseKeyValidity(record);
  return record.kid === kid && window !== null ? { kid, publicKey, ...window } : null;
};

/** Parses a trust document. Returns null unless it is valid and has version 1. */
export const trustOf = (document: unknown): Trust | null => {
  const record = asObject(document);
  if (record === null || (record.version !== 1 && record.version !== "1")) return null;
  const logs = parseOptionalList(record.logs, parseTrustedLog);
  const witnesses = parseOptionalList(record.witnesses, parseWitnessKey);
  const authorities = parseOptionalList(record.tsa, parseTimestampPin);
  const issuerKeys = parseOptionalList(asObject(record.issuer_keys)?.keys, parseIssuerKey);
  const anchorKeys = parseOptionalList(record.anchor_keys, (item) => (typeof item === "string" && fromBase64(item) !== null ? item : null));
  const witnessMin = asObject(record.policy)?.witness_min ?? 0;
  if (logs === null || witnesses === null || authorities === null || issuerKeys === null || anchorKeys === null) return null;
  if (typeof witnessMin !== "number" || !Number.isSafeInteger(witnessMin) || witnessMin < 0) return null;
  return {
    ledgers: logs.filter(({ role }) => role !== "audit"),
    auditLogs: logs.filter(({ role }) => role === "audit"),
    witnesses,
    witnessMin,
    authorities,
    issuerKeys,
    anchorKeys,
  };
};

/** Returns a log's keys, without those that expired at or before `since`. */
export const listTrustedLogKeys = (logs: readonly TrustedLogKey[], origin: string, since: string): readonly TrustedLogKey[] =>
  logs.filter((log) => log.origin === origin && (log.validTo === undefined || since < log.validTo));

/** Like `listTrustedLogKeys`, but returns only Ed25519 keys. */
export const listLogKeys = (logs: readonly TrustedLogKey[], origin: string, since: string): readonly VerifierKey[] =>
  listTrustedLogKeys(logs, origin, since)
    .map(({ vkey }) => parseVkey(vkey))
    .filter((key) => key !== null);

/** Returns the issuer's key with this ID if it was valid at that time. Otherwise, returns the reason, worded as the end of a sentence. */
export const findIssuerKey = ({ issuerKeys }: Trust, kid: unknown, at: string): IssuerKey | "is not trusted" | "was not in use then" => {
  const key = issuerKeys.find((candidate) => candidate.kid === kid);
  if (key === undefined) return "is not trusted";
  return isKeyInUse(key, at) ? key : "was not in use then";
};
