// Parses canonical JSON and reads members of untrusted JSON.
import { decodeUtf8 } from "../core/bytes.ts";
import { isJsonObject, toCanonicalJson, type Json, type JsonObject } from "../core/canonical-json.ts";

/** Decodes a file. Returns null if it does not exist or is not UTF-8. */
export const decodeText = (bytes: Uint8Array | undefined): string | null => (bytes === undefined ? null : decodeUtf8(bytes));

/**
 * Parses canonical JSON. Returns undefined unless serializing the value again results in the same text. This rules out duplicate keys,
 * unneeded escapes, whitespace and alternative number formats.
 */
export const parseCanonical = (text: string | null): Json | undefined => {
  if (text === null) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return toCanonicalJson(value) === text ? value : undefined;
  } catch {
    return undefined; // the text is not JSON, contains a lone surrogate, or is nested too deeply
  }
};

export const asObject = (value: unknown): JsonObject | null => (isJsonObject(value) ? value : null);

export const asString = (value: unknown): string | null => (typeof value === "string" ? value : null);

export const asStrings = (value: unknown): readonly string[] | null =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value : null;

export const hasExactMembers = (record: JsonObject, names: readonly string[]): boolean =>
  Object.keys(record).length === names.length && names.every((name) => Object.hasOwn(record, name));

const isSameJson = (a: Json | undefined, b: Json | undefined): boolean =>
  a === undefined || b === undefined ? a === b : toCanonicalJson(a) === toCanonicalJson(b);

/** Returns the names of the members of `b` that have a different value in `a`. */
export const findDifferingMembers = (a: JsonObject, b: Partial<JsonObject>): string[] =>
  Object.keys(b).filter((name) => !isSameJson(a[name], b[name]));

export const isSha256Hex = (text: unknown): text is string => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
