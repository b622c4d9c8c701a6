// RFC 8785 (JCS): the one way to write a JSON value as text, so that everybody hashes the same bytes.
// Our own because libraries drop `undefined` in silence: `entities_rejected: undefined` would then hash as "never asked",
// which is a different fact. Here everything that JSON cannot carry exactly throws; that is always a bug of ours,
// since input is checked long before.

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

const textOf = (text: string): string => {
  if (!text.isWellFormed()) throw new TypeError("canonical JSON: lone surrogate");
  return JSON.stringify(text); // ES2019 JSON.stringify escapes exactly what RFC 8785 asks for
};

/** Members sorted by UTF-16 code unit, no white space. Throws TypeError on anything that is not plain JSON. */
export const canonicalJson = (value: Json): string => {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return textOf(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError("canonical JSON: number is not finite");
    return JSON.stringify(value); // also prints -0 as 0
  }
  if (Array.isArray(value)) {
    // Array.from visits holes too, so that a sparse array throws instead of shrinking
    return `[${Array.from(value, (item: Json) => canonicalJson(item)).join(",")}]`;
  }
  if (typeof value !== "object") throw new TypeError(`canonical JSON: ${typeof value} is not JSON`);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new TypeError("canonical JSON: not a plain object");
  const record = value as { readonly [key: string]: Json };
  const members = Object.keys(record)
    .sort()
    .map((key) => `${textOf(key)}:${canonicalJson(record[key] as Json)}`);
  return `{${members.join(",")}}`;
};
