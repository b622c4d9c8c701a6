// Strictly parses request bodies as I-JSON (RFC 7493). A lenient parser turns invalid UTF-8 into U+FFFD, keeps the last of two equal keys
// and accepts lone surrogates, so a certificate could contain something other than what was sent.
import { decodeUtf8 } from "./bytes.ts";
import type { Json } from "./canonical-json.ts";
import { ok, refuse, type Result } from "./result.ts";

const maxBodyDepth = 8; // the deepest body that the API accepts has four levels; eight cannot overflow the stack

export interface IJsonOptions {
  readonly maxDepth?: number;
  /** The name of a property of the outermost object whose values may contain lone surrogates. The caller replaces them. */
  readonly looseMember?: string | null;
}

const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

/** Returns the index just past the string that starts at `open`. The text must be valid JSON. */
const findStringEnd = (text: string, open: number): number => {
  let at = open + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
};

/** Finds the faults that valid JSON can still contain: equal keys, deep nesting, lone surrogates, and numbers too large for a double. */
const findIJsonFault = (text: string, { maxDepth = maxBodyDepth, looseMember = null }: IJsonOptions): string | null => {
  const open: (Set<string> | null)[] = []; // one entry per level: the keys seen in an object, null for an array
  let expectsKey = false;
  let member: string | null = null; // the current property of the outermost object
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string;
    if (char === "{" || char === "[") {
      open.push(char === "{" ? new Set() : null);
      if (open.length > maxDepth) return "it is nested too deeply";
      expectsKey = char === "{";
      at += 1;
    } else if (char === "}" || char === "]") {
      open.pop();
      expectsKey = false;
      at += 1;
    } else if (char === ",") {
      expectsKey = open.at(-1) !== null;
      at += 1;
    } else if (char === '"') {
      const end = findStringEnd(text, at);
      const raw = text.slice(at, end);
      const value = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
      const isLoose = looseMember !== null && member === looseMember && open.length === 2 && !expectsKey;
      if (!isLoose && !value.isWellFormed()) return "a string contains a lone surrogate";
      if (expectsKey) {
        if (open.length === 1) member = value;
        const keys = open.at(-1) as Set<string>;
        if (keys.has(value)) return "an object contains the same key twice";
        keys.add(value);
        expectsKey = false;
      }
      at = end;
    } else if (char === "-" || (char >= "0" && char <= "9")) {
      let end = at + 1;
      while (end < text.length && /[0-9eE.+-]/.test(text[end] as string)) end += 1;
      if (!Number.isFinite(Number(text.slice(at, end)))) return "a number is too large";
      at = end;
    } else {
      at += 1; // skips whitespace, colons and the letters of true, false and null
    }
  }
  return null;
};

/** Parses a body. Refuses with `invalid_request` unless the body is exactly one I-JSON value. The message contains the broken rule. */
export const parseIJson = (bytes: Uint8Array, options: IJsonOptions = {}): Result<Json, "invalid_request"> => {
  const text = decodeUtf8(bytes);
  if (text === null) return refuse("invalid_request", "The body must be valid UTF-8.");
  const value = parseJson(text);
  if (value === undefined) return refuse("invalid_request", "The body must be valid JSON.");
  const fault = findIJsonFault(text, options);
  if (fault !== null) return refuse("invalid_request", `The body must be I-JSON (RFC 7493): ${fault}.`);
  return ok(value);
};
