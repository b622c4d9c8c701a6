// Identifiers and secrets: their format, and how they are generated from random bytes. An ID is a prefix, the two characters of its shard
// and 24 characters (120 random bits) of lowercase Crockford base32. `buildCertId` describes the different format of certificate IDs. IDs
// must be neither guessable nor sequential, because certificate pages are public.
import { toBase64Url } from "./bytes.ts";

declare const brand: unique symbol;
type Branded<B extends string> = string & { readonly [brand]: B };

export type CertId = Branded<"cert">;
export type BusinessId = Branded<"business">;
export type ClientId = Branded<"client">;
export type ShareId = Branded<"share">;
export type ConsumerId = Branded<"consumer">;
export type RemovalId = Branded<"removal">;
export type WebhookId = Branded<"webhook">;
export type DeliveryId = Branded<"delivery">;
/** The shard: two Crockford characters that identify the D1 database of the record; `00` if there is only one database. */
export type ShardId = Branded<"shard">;

export type RandomBytes = (count: number) => Uint8Array;

export const firstShard = "00" as ShardId;

export const crockfordAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const idPrefixes = [
  "cc_",
  "shr_",
  "biz_",
  "con_",
  "mem_",
  "dom_",
  "key_",
  "whk_",
  "dlv_",
  "pol_",
  "cap_",
  "tok_",
  "rmv_",
  "req_",
  "ssn_",
  "psk_",
  "pc_live_",
  "pc_test_",
] as const;
export type IdPrefix = (typeof idPrefixes)[number];
const idPattern = new RegExp(`^(?:${idPrefixes.join("|")})[${crockfordAlphabet}]{26}$`);
const shardIdPattern = new RegExp(`^[${crockfordAlphabet}]{2}$`);
export const randomBytesPerId = 15; // 120 bits = exactly 24 characters of 5 bits

/** Encodes bytes as Crockford base32. The number of bits must be a multiple of five: 15 bytes result in exactly 24 characters. */
const encodeCrockford = (bytes: Uint8Array): string => {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = ((buffer << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += crockfordAlphabet[(buffer >> bits) & 31];
    }
  }
  return text;
};

/** Generates an ID, such as `shr_00…`: the prefix, the shard and 24 random characters. For certificates, use `buildCertId`. */
export const generateId = (prefix: IdPrefix, shard: ShardId, random: RandomBytes): string =>
  `${prefix}${shard}${encodeCrockford(random(randomBytesPerId))}`;

/**
 * Returns the ID of a certificate: the shard, the last character of the client's ID, and 23 characters (115 bits) of `bytes`. `bytes` are
 * random or, for a request with an idempotency key, a keyed hash. The shard and the first character after it are the name of the
 * certificate's journal (intake/journal-name.ts).
 */
export const buildCertId = (shard: ShardId, clientId: ClientId, bytes: Uint8Array): CertId =>
  `cc_${shard}${clientId.at(-1)}${encodeCrockford(bytes).slice(1)}` as CertId;

const hasIdShape = (text: string, prefix: IdPrefix): boolean => text.startsWith(prefix) && idPattern.test(text);

/** Parses a certificate ID. Returns null for text in any other format, so that callers can skip the database query. */
export const parseCertId = (text: string): CertId | null => (hasIdShape(text, "cc_") ? (text as CertId) : null);

/**
 * Parses a certificate ID that was typed from paper or copied together with its URL. Accepts capital letters, spaces anywhere, and the
 * letters that Crockford base32 omits because they look like digits (`o` counts as 0, `i` and `l` count as 1).
 */
export const parseTypedCertId = (text: string): CertId | null => {
  const [, typed] = /(?:^|\/)cc_([0-9a-z]{26})\/?(?:[?#]|$)/.exec(text.replaceAll(/\s/g, "").toLowerCase()) ?? [];
  return typed === undefined ? null : parseCertId(`cc_${typed.replaceAll("o", "0").replaceAll(/[il]/g, "1")}`);
};

export const parseClientId = (text: string): ClientId | null =>
  hasIdShape(text, "pc_live_") || hasIdShape(text, "pc_test_") ? (text as ClientId) : null;
export const parseShareId = (text: string): ShareId | null => (hasIdShape(text, "shr_") ? (text as ShareId) : null);
export const parseRemovalId = (text: string): RemovalId | null => (hasIdShape(text, "rmv_") ? (text as RemovalId) : null);
export const parseBusinessId = (text: string): BusinessId | null => (hasIdShape(text, "biz_") ? (text as BusinessId) : null);
export const parseWebhookId = (text: string): WebhookId | null => (hasIdShape(text, "whk_") ? (text as WebhookId) : null);
export const parseRequestId = (text: string): string | null => (hasIdShape(text, "req_") ? text : null);
export const parseSessionId = (text: string): string | null => (hasIdShape(text, "ssn_") ? text : null);
export const parsePasskeyId = (text: string): string | null => (hasIdShape(text, "psk_") ? text : null);
export const parseDomainId = (text: string): string | null => (hasIdShape(text, "dom_") ? text : null);
export const parseApiKeyId = (text: string): string | null => (hasIdShape(text, "key_") ? text : null);
export const parseMemberId = (text: string): string | null => (hasIdShape(text, "mem_") ? text : null);
export const parseDeliveryId = (text: string): DeliveryId | null => (hasIdShape(text, "dlv_") ? (text as DeliveryId) : null);

/** Parses a shard ID, such as `0a`. Returns null for other text. */
export const parseShardId = (text: string): ShardId | null => (shardIdPattern.test(text) ? (text as ShardId) : null);

/** Returns the shard with this number: `00`, `01`, … `09`, `0a`, … `zz`. */
export const getShardId = (number: number): ShardId => `${crockfordAlphabet[number >> 5]}${crockfordAlphabet[number & 31]}` as ShardId;

/** Returns the shard in an ID or secret: the two characters after the prefix. */
export const shardOfId = (id: CertId | BusinessId | ClientId | string): ShardId => {
  const secret = secretPrefixes.find((prefix) => id.startsWith(prefix));
  const start = secret?.length ?? idPrefixes.find((prefix) => id.startsWith(prefix))?.length ?? 0;
  return id.slice(start, start + 2) as ShardId;
};

const secretPrefixes = ["sk_live_", "sk_test_", "pat_", "ac_", "oac_", "ses_"] as const;
export type SecretPrefix = (typeof secretPrefixes)[number];
const secretPattern = new RegExp(`^(?:${secretPrefixes.join("|")})[${crockfordAlphabet}]{2}[A-Za-z0-9_-]{43}$`);

/** Generates a secret: prefix, shard and 256 random bits in base64url. */
export const generateSecret = (prefix: SecretPrefix, shard: ShardId, random: RandomBytes): string =>
  `${prefix}${shard}${toBase64Url(random(32))}`;

/** Returns whether the text has the format of a secret with one of the prefixes. This does not mean that the secret exists. */
export const hasSecretShape = (text: string, ...prefixes: readonly SecretPrefix[]): boolean =>
  secretPattern.test(text) && prefixes.some((prefix) => text.startsWith(prefix));
