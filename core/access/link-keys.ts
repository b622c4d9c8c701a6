// Parses LINK_KEYS: the keys that create and check emailed links, form tokens, OAuth client secrets and other derived tokens.
import { fromBase64, toBase64 } from "../bytes.ts";
import type { Bytes } from "../hash.ts";

const keyBytes = 32;
const nextMark = "@next";

/** LINK_KEYS refers to the key in the INDEX_KEY setting by this name. */
const indexKeyName = "index";

export interface LinkKey {
  /** The number of the key, or `index` for INDEX_KEY. */
  readonly name: string;
  /** The bytes of the key; null for the key in the INDEX_KEY setting. */
  readonly key: Bytes | null;
}

export interface LinkKeys {
  /** The key that creates new tokens. */
  readonly current: LinkKey;
  /** The other keys whose tokens are accepted. */
  readonly others: readonly LinkKey[];
}

/** The keys to use if LINK_KEYS is not set. */
export const defaultLinkKeys: LinkKeys = { current: { name: indexKeyName, key: null }, others: [] };

const parseLinkKey = (text: string): LinkKey | null => {
  if (text === indexKeyName) return { name: text, key: null };
  const [, name, encoded] = /^([1-9][0-9]{0,3}):(.+)$/.exec(text) ?? [];
  const key = encoded === undefined ? null : fromBase64(encoded);
  return name === undefined || key?.length !== keyBytes ? null : { name, key };
};

/**
 * Parses a list of keys, oldest first and separated by commas: `index` or `<number>:<base64 of 32 bytes>`. The last key creates tokens. If
 * `@next` follows the last key, that key only checks tokens, and the key before it creates them. Returns null if the list is malformed.
 */
export const parseLinkKeys = (text: string): LinkKeys | null => {
  const hasNext = text.endsWith(nextMark);
  const parts = (hasNext ? text.slice(0, -nextMark.length) : text).split(",");
  const keys = parts.map(parseLinkKey).filter((key) => key !== null);
  const current = keys.at(hasNext ? -2 : -1);
  const isValid = keys.length === parts.length && new Set(keys.map(({ name }) => name)).size === keys.length;
  return current === undefined || !isValid ? null : { current, others: keys.filter((key) => key !== current) };
};

/**
 * Appends a new key, marked `@next`, that is not used to create tokens yet. If the list already ends with such a key, returns the list
 * unchanged. `text` is undefined if LINK_KEYS is not set.
 */
export const addNextLinkKey = (text: string | undefined, key: Bytes): string => {
  const earlier = text === undefined || text === "" ? indexKeyName : text;
  if (earlier.endsWith(nextMark)) return earlier;
  const newest = Number(/(?:^|,)([0-9]+):[^,]*$/.exec(earlier)?.[1] ?? 0);
  return `${earlier},${newest + 1}:${toBase64(key)}${nextMark}`;
};

/** Removes `@next`, so that the last key creates tokens. */
export const useNextLinkKey = (text: string): string => (text.endsWith(nextMark) ? text.slice(0, -nextMark.length) : text);

/** Removes all keys except the last. */
export const removeEarlierLinkKeys = (text: string): string => text.split(",").at(-1) as string;
