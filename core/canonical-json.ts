// Serializes a JSON value in canonical form (RFC 8785, JCS), so that everyone hashes the same bytes. Throws for anything that JSON cannot
// represent exactly, such as `undefined`, because silently dropping a property would change the content of a certificate. Input is
// validated earlier, so such a value is always a bug in the service.

export type JsonObject = { readonly [key: string]: Json };
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export const isJsonObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

const canonicalizeString = (text: string): string => {
  if (!text.isWellFormed()) throw new TypeError("canonical JSON: lone surrogate");
  return JSON.stringify(text); // ES2019 JSON.stringify escapes exactly what RFC 8785 requires
};

/** Appends to one string, because joining a list of pieces would copy the text again at every level. */
const canonicalizeArray = (items: readonly Json[]): string => {
  let text = "[";
  // A loop over the index also visits holes, so a sparse array throws instead of losing elements.
  for (let at = 0; at < items.length; at += 1) text += `${at === 0 ? "" : ","}${toCanonicalJson(items[at] as Json)}`;
  return `${text}]`;
};

const canonicalizeObject = (record: JsonObject): string => {
  const prototype = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("canonical JSON: not a plain object");
  let text = "{";
  for (const key of Object.keys(record).sort())
    text += `${text === "{" ? "" : ","}${canonicalizeString(key)}:${toCanonicalJson(record[key] as Json)}`;
  return `${text}}`;
};

/**
 * Serializes a value. Sorts object keys by UTF-16 code unit and adds no whitespace. Throws TypeError for anything that is not plain JSON.
 */
export const toCanonicalJson = (value: Json): string => {
  if (typeof value === "string") return canonicalizeString(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("canonical JSON: number is not finite");
    return JSON.stringify(value); // this also serializes -0 as 0
  }
  if (typeof value !== "object") throw new TypeError(`canonical JSON: ${typeof value} is not JSON`);
  return Array.isArray(value) ? canonicalizeArray(value) : canonicalizeObject(value as JsonObject);
};
