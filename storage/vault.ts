// Sealing: AES-256-GCM under a fresh data key per value, the data key wrapped (AES-KW) by the current master key.
// A sealed value is one text, `<key version>.<base64url(wrapped key 40 B | nonce 12 B | ciphertext and tag)>`; setting it
// to NULL destroys its only key, which is what erasure means. The associated data names table, record, field and owner,
// so a sealed value moved to another row or tenant does not open.
import { toBase64Url, fromBase64Url, concatBytes, toHex, encodeUtf8 } from "../core/bytes.ts";
import { sha256Hex } from "../core/hash.ts";

/** Where a sealed value belongs: the additional data of its encryption. */
export interface EncryptionContext {
  readonly table: string;
  readonly record: string;
  readonly field: string;
  readonly owner: string;
}

/** The contexts of a sealed column. */
export const columnContext =
  (table: string, field: string) =>
  (record: string, owner: string): EncryptionContext => ({ table, record, field, owner });

/** Of a record that is its own owner. */
export const selfOwnedContext =
  (table: string, field: string) =>
  (record: string): EncryptionContext => ({ table, record, field, owner: record });

export interface Sealer {
  readonly seal: (context: EncryptionContext, text: string) => Promise<string>;
  /** Throws when the value was moved, changed, or sealed under a key that is not at hand. */
  readonly open: (context: EncryptionContext, sealed: string) => Promise<string>;
}

export interface Vault extends Sealer {
  /** A key of a record's own, wrapped by the master key: what is sealed under it ends with it, wherever the copies are. */
  readonly newRecordKey: () => Promise<string>;
  /** Seals and opens as the vault does, with the record's key in the place of the master key. */
  readonly withRecordKey: (recordKey: string) => Promise<Sealer>;
  /** 32 hex characters (128 bits): equal inputs meet, nobody without the key can test a guess. */
  readonly blindIndex: (kind: "email" | "phone", comparable: string) => Promise<string>;
  /** Of a six-digit code that was mailed for `purpose`: its million values cannot be tried out without the key. */
  readonly codeHash: (purpose: string, code: string) => Promise<string>;
  /** What a link that was mailed for `purpose` carries, 256 bits in base64url: made again from the key, so that it is stored nowhere. */
  readonly linkToken: (purpose: string) => Promise<string>;
  /** Of something that was sent, within one record: who holds a copy of the database cannot try out what it may have been. */
  readonly sentHash: (record: string, text: string) => Promise<string>;
  /** The blind index of a value known by the lower-case hex SHA-256 of its comparable form only. */
  readonly blindIndexOfHash: (kind: "email" | "phone", hash: string) => Promise<string>;
}

export interface VaultKeys {
  /** Version to 32 bytes; the last one seals, all of them open. */
  readonly masterKeys: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** 32 bytes. */
  readonly indexKey: Uint8Array<ArrayBuffer>;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // ignoreBOM keeps a leading U+FEFF in the text
const wrappedBytes = 40; // AES-KW adds 8 bytes to a 32-byte key (RFC 3394)
const nonceBytes = 12; // 96 bits, random: each data key seals one value, so a nonce can never repeat under a key

/** A record's key is generated with the record and never changed. */
const recordKeyVersion = "r";

/** The parts are names and ids, which hold no bar; one that does could pass for two. */
const associatedData = (context: EncryptionContext, version: string): Uint8Array<ArrayBuffer> => {
  const parts = ["svc1", context.table, context.record, context.field, context.owner, version];
  if (parts.some((part) => part.includes("|"))) throw new Error("vault: the name of a context holds a bar");
  return encodeUtf8(parts.join("|"));
};

const wrapWithKey = async (key: CryptoKey, by: CryptoKey): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.wrapKey("raw", key, by, "AES-KW"));

/** Wrapping keys by version; the current one seals, all of them open. */
interface WrappingKeys {
  readonly byVersion: ReadonlyMap<string, CryptoKey>;
  readonly current: string;
}

/** The version before the dot, and the bytes behind it. */
const parseSealed = (
  { byVersion }: WrappingKeys,
  sealed: string,
): { readonly key: CryptoKey; readonly version: string; readonly bytes: Uint8Array<ArrayBuffer> } => {
  const dot = sealed.indexOf(".");
  const version = sealed.slice(0, dot);
  const key = byVersion.get(version);
  const bytes = fromBase64Url(sealed.slice(dot + 1));
  if (key === undefined || bytes === null) throw new Error("vault: sealed value cannot be opened with the keys at hand");
  return { key, version, bytes };
};

const createSealer = (keys: WrappingKeys): Sealer => {
  const { current } = keys;
  const currentKey = keys.byVersion.get(current) as CryptoKey;
  return {
    seal: async (context, text) => {
      const dataKey = await crypto.subtle.importKey("raw", crypto.getRandomValues(new Uint8Array(32)), "AES-GCM", true, ["encrypt"]);
      const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const [wrappedKey, ciphertext] = await Promise.all([
        wrapWithKey(dataKey, currentKey),
        crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: associatedData(context, current) }, dataKey, encodeUtf8(text)),
      ]);
      return `${current}.${toBase64Url(concatBytes(wrappedKey, iv, new Uint8Array(ciphertext)))}`;
    },
    open: async (context, sealed) => {
      const { key, version, bytes } = parseSealed(keys, sealed);
      const dataKey = await crypto.subtle.unwrapKey("raw", bytes.subarray(0, wrappedBytes), key, "AES-KW", "AES-GCM", false, ["decrypt"]);
      const iv = bytes.subarray(wrappedBytes, wrappedBytes + nonceBytes);
      const plain = await crypto.subtle.decrypt(
        { name: "AES-GCM", iv, additionalData: associatedData(context, version) },
        dataKey,
        bytes.subarray(wrappedBytes + nonceBytes),
      );
      return decoder.decode(plain);
    },
  };
};

const wrappingUses: ("wrapKey" | "unwrapKey")[] = ["wrapKey", "unwrapKey"];

export const openVault = async (keys: VaultKeys): Promise<Vault> => {
  const byVersion = new Map<string, CryptoKey>();
  for (const [version, bytes] of keys.masterKeys) {
    byVersion.set(version, await crypto.subtle.importKey("raw", bytes, "AES-KW", false, wrappingUses));
  }
  const current = [...byVersion.keys()].at(-1);
  if (current === undefined) throw new Error("vault: no master key");
  const master: WrappingKeys = { byVersion, current };
  const indexKey = await crypto.subtle.importKey("raw", keys.indexKey, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);

  const keyed = async (text: string) => new Uint8Array(await crypto.subtle.sign("HMAC", indexKey, encodeUtf8(text)));
  const keyed128 = async (text: string): Promise<string> => toHex((await keyed(text)).subarray(0, 16));

  return {
    ...createSealer(master),
    newRecordKey: async () => {
      const key = await crypto.subtle.importKey("raw", crypto.getRandomValues(new Uint8Array(32)), "AES-KW", true, wrappingUses);
      return `${current}.${toBase64Url(await wrapWithKey(key, byVersion.get(current) as CryptoKey))}`;
    },
    withRecordKey: async (recordKey) => {
      const { key: masterKey, bytes } = parseSealed(master, recordKey);
      const key = await crypto.subtle.unwrapKey("raw", bytes, masterKey, "AES-KW", "AES-KW", false, wrappingUses);
      return createSealer({ byVersion: new Map([[recordKeyVersion, key]]), current: recordKeyVersion });
    },
    // The inner hash lets a caller ask with the SHA-256 of an address instead of the address (CONTRACT 2).
    blindIndex: (kind, comparable) => keyed128(`${kind}:${sha256Hex(comparable)}`),
    codeHash: (purpose, code) => keyed128(`code:${purpose}\n${code}`),
    linkToken: async (purpose) => toBase64Url(await keyed(`link:${purpose}`)),
    sentHash: (record, text) => keyed128(`sent:${record}\n${text}`),
    blindIndexOfHash: (kind, hash) => keyed128(`${kind}:${hash}`),
  };
};
