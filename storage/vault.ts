// Seals values with AES-256-GCM. Each value has its own data key, which the current master key wraps (AES-KW). A sealed value is one
// string: `<key version>.<base64url(wrapped key 40 B | nonce 12 B | ciphertext and tag)>`. The string contains the only copy of the data
// key, so setting the column to NULL erases the value. The additional authenticated data contains the table, record, field, owner and key
// version. Therefore, a sealed value cannot be opened in another row. Rewrapping a value replaces only the wrapped key, and changes the
// part before the dot to `<key version>-<version when sealed>`.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { createAddressIndex, type AddressIndex } from "../core/access/address-index.ts";
import { decryptBlock, encryptBlock } from "../core/block-cipher.ts";
import { toBase64Url, fromBase64Url, concatBytes, fromHex, toHex, encodeUtf8 } from "../core/bytes.ts";
import { defaultLinkKeys, type LinkKey, type LinkKeys } from "../core/access/link-keys.ts";
import { isEqualConstantTime, sha256Hex, type Bytes } from "../core/hash.ts";

/** Identifies the table, record, field and owner of a sealed value. The additional authenticated data contains all of these. */
export interface EncryptionContext {
  readonly table: string;
  readonly record: string;
  readonly field: string;
  readonly owner: string;
  /** True if the text is compressed before encryption. The length of the sealed value then reveals how repetitive the text is. */
  readonly isCompressed?: boolean;
}

/** Returns a function that creates the encryption contexts of a sealed column. */
export const columnContext =
  (table: string, field: string, options: Pick<EncryptionContext, "isCompressed"> = {}) =>
  (record: string, owner: string): EncryptionContext => ({ table, record, field, owner, ...options });

/** Like `columnContext`, for records that are their own owner. */
export const selfOwnedContext =
  (table: string, field: string) =>
  (record: string): EncryptionContext => ({ table, record, field, owner: record });

export interface Sealer {
  readonly seal: (context: EncryptionContext, text: string) => Promise<string>;
  /** Throws if the sealed value was moved or changed, or if its key version is not available. */
  readonly open: (context: EncryptionContext, sealed: string) => Promise<string>;
}

/** Rewraps values from earlier master keys with the current one. */
export interface Rewrapper {
  /** The version of the key that wraps new values. */
  readonly currentVersion: string;
  /**
   * Rewraps the data key of a sealed value, or a record key, with the current master key. Returns null if it is already wrapped with the
   * current key, or was not wrapped with a master key. Throws if the key version is not available.
   */
  readonly rewrap: (sealed: string) => Promise<string | null>;
}

/** Converts between the indexes of addresses and the forms in which rows store them. */
export interface IndexReader {
  /** The name of the key that encrypts the indexes of new rows, or `index` if they are not encrypted. */
  readonly currentIndexKey: string;
  /** True if rows can contain more than one form of an index. */
  readonly hasSeveralIndexForms: boolean;
  /**
   * Reads an index from a row. Throws if it is encrypted with a key that is not available. Text that is not in the format of an index is
   * returned unchanged.
   */
  readonly readIndex: (stored: string) => AddressIndex;
}

export interface Vault extends Sealer, Rewrapper, IndexReader {
  /**
   * Creates a key for one record, wrapped with the master key. If this key is deleted, all values that were sealed with it become
   * unreadable.
   */
  readonly newRecordKey: () => Promise<string>;
  /** Returns a sealer that uses the record's key instead of the master key. */
  readonly withRecordKey: (recordKey: string) => Promise<Sealer>;
  /**
   * Returns the 128-bit index of a normalized value. The same value always has the same index. Without the index key, no one can check
   * whether an index belongs to a guessed value.
   */
  readonly blindIndex: (kind: "email" | "phone", comparable: string) => Promise<AddressIndex>;
  /**
   * Returns a keyed hash of a six-digit code that was sent for `purpose`. Without the key, no one can find the code by trying all 1,000,000
   * codes.
   */
  readonly codeHash: (purpose: string, code: string) => Promise<AddressIndex>;
  /**
   * Returns 120 bits for the ID of a certificate whose submission has an idempotency key. The same idempotency key always gives the same
   * ID. Only someone who knows the index key can predict these IDs.
   */
  readonly certificateBytes: (idempotencyKeyHash: string) => Promise<Uint8Array>;
  /**
   * Derives the token for `purpose` from the current link key: 256 bits in base64url. Because it can be derived again, the token does not
   * need to be stored.
   */
  readonly linkToken: (purpose: string) => Promise<string>;
  /** Returns the accepted tokens for `purpose`, one for each link key. The token from `linkToken` comes first. */
  readonly listLinkTokens: (purpose: string) => Promise<readonly string[]>;
  /** Returns true if a token is accepted for `purpose`. Compares in constant time. */
  readonly isLinkToken: (purpose: string, token: string) => Promise<boolean>;
  /**
   * Derives a token from the index key, which is never rotated. Use it for IDs, or if `purpose` includes a secret that the database stores
   * only in sealed form.
   */
  readonly permanentToken: (purpose: string) => Promise<string>;
  /**
   * Returns a keyed hash of `record` and a text that a caller sent. Without the key, no one can check whether the hash belongs to a guessed
   * text.
   */
  readonly sentHash: (record: string, text: string) => Promise<string>;
  /** Like `blindIndex`, but takes the lowercase hex SHA-256 of the normalized value. */
  readonly blindIndexOfHash: (kind: "email" | "phone", hash: string) => Promise<AddressIndex>;
}

export interface VaultKeys {
  /** The 32-byte keys by version. New values are wrapped with the last one. */
  readonly masterKeys: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** The 32-byte key for blind indexes and hashes. */
  readonly indexKey: Uint8Array<ArrayBuffer>;
  /** The keys for derived tokens. The default is the index key. */
  readonly linkKeys?: LinkKeys;
  /** The keys that encrypt stored indexes. By default, indexes are not encrypted. */
  readonly indexEncryptionKeys?: LinkKeys;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // ignoreBOM preserves a leading U+FEFF
const wrappedBytes = 40; // AES-KW adds 8 bytes to a 32-byte key (RFC 3394)
const nonceBytes = 12; // a random nonce cannot repeat under a key, because each data key seals only one value

/** The version in values that are sealed with a record key. Record keys are never replaced, so this is their only version. */
const recordKeyVersion = "r";

/**
 * Builds the additional authenticated data. Throws if a part contains a vertical bar. Otherwise, different contexts could have the same
 * text.
 */
const associatedData = (context: EncryptionContext, version: string): Uint8Array<ArrayBuffer> => {
  const parts = ["svc1", context.table, context.record, context.field, context.owner, version];
  if (parts.some((part) => part.includes("|"))) throw new Error("vault: a part of an encryption context contains a bar");
  return encodeUtf8(parts.join("|"));
};

const toPlainBytes = (text: string, { isCompressed = false }: EncryptionContext) =>
  isCompressed ? new Uint8Array(deflateRawSync(encodeUtf8(text))) : encodeUtf8(text);

const toText = (bytes: Uint8Array<ArrayBuffer>, { isCompressed = false }: EncryptionContext) =>
  decoder.decode(isCompressed ? inflateRawSync(bytes) : bytes);

const wrapWithKey = async (key: CryptoKey, wrappingKey: CryptoKey): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await crypto.subtle.wrapKey("raw", key, wrappingKey, "AES-KW"));

/** Master keys, or a record key, by version. New values are wrapped with the version `current`. */
interface WrappingKeys {
  readonly byVersion: ReadonlyMap<string, CryptoKey>;
  readonly current: string;
}

const formatPrefix = (version: string, sealedVersion: string): string =>
  version === sealedVersion ? version : `${version}-${sealedVersion}`;

interface SealedParts {
  /** The key that wraps the value's data key. */
  readonly key: CryptoKey;
  /** The version in the additional authenticated data. */
  readonly sealedVersion: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Parses a sealed value. Throws if it is malformed or its key version is not available. */
const parseSealed = ({ byVersion }: WrappingKeys, sealed: string): SealedParts => {
  const dot = sealed.indexOf(".");
  const prefix = sealed.slice(0, dot);
  const [version = "", sealedVersion = version] = prefix.split("-");
  const key = byVersion.get(version);
  const bytes = fromBase64Url(sealed.slice(dot + 1));
  if (key === undefined || bytes === null || prefix !== formatPrefix(version, sealedVersion))
    throw new Error("vault: malformed sealed value or unknown key version");
  return { key, sealedVersion, bytes };
};

/** Returns the bytes of a sealed value as hex: the prefix and the dot as ASCII, and then the decoded base64url part. */
export const sealedToHex = (sealed: string): string => {
  const start = sealed.indexOf(".") + 1;
  const bytes = fromBase64Url(sealed.slice(start));
  if (start === 0 || bytes === null) throw new Error("vault: malformed sealed value");
  return toHex(encodeUtf8(sealed.slice(0, start))) + toHex(bytes);
};

/** Converts the bytes from `sealedToHex` back to the sealed value. */
export const sealedFromBytes = (bytes: Uint8Array): string => {
  const start = bytes.indexOf(0x2e) + 1;
  return decoder.decode(bytes.subarray(0, start)) + toBase64Url(bytes.subarray(start));
};

/** Matches sealed values and record keys that are wrapped with a master key, but not values that are sealed with a record key. */
const masterSealedPattern = /^([1-9][0-9]{0,3})(?:-[1-9][0-9]{0,3})?\.[A-Za-z0-9_-]{54,}$/;

/** Returns the version of the master key with which this value is wrapped, or null if it is not wrapped with a master key. */
export const findMasterKeyVersion = (sealed: string): string | null => masterSealedPattern.exec(sealed)?.[1] ?? null;

/** The number of characters after the dot that encode the wrapped key. */
const wrappedCharacters = Math.ceil((wrappedBytes * 4) / 3);

const getCiphertext = (sealed: string): string => sealed.slice(sealed.indexOf(".") + 1 + wrappedCharacters);

/** Returns true if the two texts are the same sealed value. One of them may have been rewrapped. */
export const isSameSealedValue = (one: string, other: string): boolean => one === other || getCiphertext(one) === getCiphertext(other);

const createRewrapper = (keys: WrappingKeys): Rewrapper => ({
  currentVersion: keys.current,
  rewrap: async (sealed) => {
    const version = findMasterKeyVersion(sealed);
    if (version === null || version === keys.current) return null;
    const { key, sealedVersion, bytes } = parseSealed(keys, sealed);
    const dataKey = await crypto.subtle.unwrapKey("raw", bytes.subarray(0, wrappedBytes), key, "AES-KW", "AES-GCM", true, ["decrypt"]);
    const wrappedKey = await wrapWithKey(dataKey, keys.byVersion.get(keys.current) as CryptoKey);
    return `${formatPrefix(keys.current, sealedVersion)}.${toBase64Url(concatBytes(wrappedKey, bytes.subarray(wrappedBytes)))}`;
  },
});

const createSealer = (keys: WrappingKeys): Sealer => {
  const { current } = keys;
  const currentKey = keys.byVersion.get(current) as CryptoKey;
  return {
    seal: async (context, text) => {
      const dataKey = await crypto.subtle.importKey("raw", crypto.getRandomValues(new Uint8Array(32)), "AES-GCM", true, ["encrypt"]);
      const iv = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const plain = toPlainBytes(text, context);
      const [wrappedKey, ciphertext] = await Promise.all([
        wrapWithKey(dataKey, currentKey),
        crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: associatedData(context, current) }, dataKey, plain),
      ]);
      return `${current}.${toBase64Url(concatBytes(wrappedKey, iv, new Uint8Array(ciphertext)))}`;
    },
    open: async (context, sealed) => {
      const { key, sealedVersion, bytes } = parseSealed(keys, sealed);
      const dataKey = await crypto.subtle.unwrapKey("raw", bytes.subarray(0, wrappedBytes), key, "AES-KW", "AES-GCM", false, ["decrypt"]);
      const iv = bytes.subarray(wrappedBytes, wrappedBytes + nonceBytes);
      const plain = await crypto.subtle.decrypt(
        { name: "AES-GCM", iv, additionalData: associatedData(context, sealedVersion) },
        dataKey,
        bytes.subarray(wrappedBytes + nonceBytes),
      );
      return toText(new Uint8Array(plain), context);
    },
  };
};

/** Matches the stored forms of an index. */
const storedIndexPattern = /^(?:([1-9][0-9]{0,3})\.)?([0-9a-f]{32})$/;

/**
 * An index is one block of the cipher, so its encryption is deterministic: rows with the same address have equal indexes. Encrypted indexes
 * can be decrypted, so they can be re-encrypted with a new key without knowing the address.
 */
const createIndexReader = ({ current, others }: LinkKeys): IndexReader => {
  const keys = [current, ...others];
  const toForm = ({ name, key }: LinkKey, plain: string): string =>
    key === null ? plain : `${name}.${toHex(encryptBlock(key, fromHex(plain) as Bytes))}`;
  return {
    currentIndexKey: current.name,
    hasSeveralIndexForms: others.length > 0,
    readIndex: (stored) => {
      const [, name, hex] = storedIndexPattern.exec(stored) ?? [];
      if (hex === undefined) return createAddressIndex(stored, [stored]);
      const key = name === undefined ? null : keys.find((known) => known.name === name)?.key;
      if (key === undefined) throw new Error("vault: an index is encrypted with an unknown key");
      const plain = key === null ? hex : toHex(decryptBlock(key, fromHex(hex) as Bytes));
      return createAddressIndex(plain, [toForm(current, plain), ...others.map((other) => toForm(other, plain))]);
    },
  };
};

const wrappingUses: ("wrapKey" | "unwrapKey")[] = ["wrapKey", "unwrapKey"];

/** Opens the vault. Throws if there are no master keys. */
export const openVault = async (keys: VaultKeys): Promise<Vault> => {
  const byVersion = new Map<string, CryptoKey>();
  for (const [version, bytes] of keys.masterKeys) {
    byVersion.set(version, await crypto.subtle.importKey("raw", bytes, "AES-KW", false, wrappingUses));
  }
  const current = [...byVersion.keys()].at(-1);
  if (current === undefined) throw new Error("vault: no master key");
  const master: WrappingKeys = { byVersion, current };
  const importHmacKey = (bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
    crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const indexKey = await importHmacKey(keys.indexKey);
  const importLinkKey = ({ key }: LinkKey): Promise<CryptoKey> | CryptoKey => (key === null ? indexKey : importHmacKey(key));
  const { current: currentLinkKey, others: otherLinkKeys } = keys.linkKeys ?? defaultLinkKeys;
  const linkKeys = await Promise.all([currentLinkKey, ...otherLinkKeys].map(importLinkKey));

  const sign = async (key: CryptoKey, text: string) => new Uint8Array(await crypto.subtle.sign("HMAC", key, encodeUtf8(text)));
  const keyed = (text: string) => sign(indexKey, text);
  const keyed128 = async (text: string): Promise<string> => toHex((await keyed(text)).subarray(0, 16));

  const indexes = createIndexReader(keys.indexEncryptionKeys ?? defaultLinkKeys);
  const computeLinkToken = async (key: CryptoKey, purpose: string): Promise<string> => toBase64Url(await sign(key, `link:${purpose}`));
  const listLinkTokens = (purpose: string): Promise<readonly string[]> =>
    Promise.all(linkKeys.map((key) => computeLinkToken(key, purpose)));

  return {
    ...createSealer(master),
    ...createRewrapper(master),
    ...indexes,
    newRecordKey: async () => {
      const key = await crypto.subtle.importKey("raw", crypto.getRandomValues(new Uint8Array(32)), "AES-KW", true, wrappingUses);
      return `${current}.${toBase64Url(await wrapWithKey(key, byVersion.get(current) as CryptoKey))}`;
    },
    withRecordKey: async (recordKey) => {
      const { key: masterKey, bytes } = parseSealed(master, recordKey);
      const key = await crypto.subtle.unwrapKey("raw", bytes, masterKey, "AES-KW", "AES-KW", false, wrappingUses);
      return createSealer({ byVersion: new Map([[recordKeyVersion, key]]), current: recordKeyVersion });
    },
    // The value is hashed first, so that a caller can send the SHA-256 of an email address or phone number instead of the value.
    blindIndex: async (kind, comparable) => indexes.readIndex(await keyed128(`${kind}:${sha256Hex(comparable)}`)),
    codeHash: async (purpose, code) => indexes.readIndex(await keyed128(`code:${purpose}\n${code}`)),
    certificateBytes: async (idempotencyKeyHash) => (await keyed(`certificate:${idempotencyKeyHash}`)).subarray(0, 15),
    linkToken: (purpose) => computeLinkToken(linkKeys[0] as CryptoKey, purpose),
    listLinkTokens,
    isLinkToken: async (purpose, token) => (await listLinkTokens(purpose)).some((accepted) => isEqualConstantTime(accepted, token)),
    permanentToken: (purpose) => computeLinkToken(indexKey, purpose),
    sentHash: (record, text) => keyed128(`sent:${record}\n${text}`),
    blindIndexOfHash: async (kind, hash) => indexes.readIndex(await keyed128(`${kind}:${hash}`)),
  };
};
