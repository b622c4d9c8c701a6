// Bodies are I-JSON (RFC 7493), parsed once at the edge. A lenient parser would seal something else than was sent:
// it turns bad UTF-8 into U+FFFD, keeps the last of two equal keys and lets half a surrogate pair through.
import type { Json } from "./canonical-json.ts";
import { ok, refuse, type Result } from "./result.ts";

const maxBodyDepth = 8; // CONTRACT 18: the deepest body the product takes has four levels; eight leaves room, not a stack

const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }); // ignoreBOM keeps the mark in the text, where JSON.parse refuses it

const decodeUtf8 = (bytes: Uint8Array): string | null => {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    return null;
  }
};

const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

/** Index just past the string that opens at `open`. The text is known to be valid JSON. */
const findStringEnd = (text: string, open: number): number => {
  let at = open + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
};

/** What valid JSON may still hide: equal keys, deep nesting, half surrogates, numbers beyond a double. */
const findIJsonFault = (text: string, deepest: number): string | null => {
  const open: (Set<string> | null)[] = []; // one entry a level: the keys seen in an object, null for an array
  let expectsKey = false;
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string;
    if (char === "{" || char === "[") {
      open.push(char === "{" ? new Set() : null);
      if (open.length > deepest) return "nested too deeply";
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
      if (!value.isWellFormed()) return "text holds half a surrogate pair";
      if (expectsKey) {
        const keys = open.at(-1) as Set<string>;
        if (keys.has(value)) return "a key stands twice in one object";
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
      at += 1; // white space, colons and the letters of true, false and null
    }
  }
  return null;
};

/** Refuses `invalid_request` for anything that is not one I-JSON value, saying which rule it breaks. */
export const parseIJson = (bytes: Uint8Array, deepest = maxBodyDepth): Result<Json, "invalid_request"> => {
  const text = decodeUtf8(bytes);
  if (text === null) return refuse("invalid_request", "The body is not valid UTF-8.");
  const value = parseJson(text);
  if (value === undefined) return refuse("invalid_request", "The body is not valid JSON.");
  const fault = findIJsonFault(text, deepest);
  if (fault !== null) return refuse("invalid_request", `The body is not I-JSON: ${fault}.`);
  return ok(value);
};
