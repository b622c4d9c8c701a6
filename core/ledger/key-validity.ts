// A public key's validity period. In settings, it follows the key as `<key>@<valid_to>` or `<key>@<valid_from>/<valid_to>`, in ISO 8601
// (2026-11-22T00:00:00.000Z). Signatures made at or after `valid_to` are not accepted.

import { toIso } from "../time.ts";

export interface KeyValidity {
  readonly validFrom: string;
  readonly validTo?: string;
}

export interface KeyWithValidity extends KeyValidity {
  readonly key: string;
}

/** The `validFrom` of a key whose period has no start. */
export const defaultValidFrom = "1970-01-01T00:00:00.000Z";

/** Returns whether the text has the exact format of `toIso`, with a four-digit year. Such times can be compared as text. */
export const isIsoTime = (text: unknown): text is string => {
  if (typeof text !== "string" || !/^\d{4}-/.test(text)) return false;
  const instant = Date.parse(text);
  return Number.isFinite(instant) && toIso(instant) === text;
};

/** Parses a key with its period. Returns null if the part after `@` is not a valid period. */
export const parseKeyWithValidity = (text: string): KeyWithValidity | null => {
  const at = text.lastIndexOf("@");
  if (at < 0) return { key: text, validFrom: defaultValidFrom };
  const times = text.slice(at + 1).split("/");
  const [from, to] = times.length === 1 ? [defaultValidFrom, times[0]] : times;
  if (times.length > 2 || from === undefined || to === undefined || !isIsoTime(from) || !isIsoTime(to) || from >= to) return null;
  return { key: text.slice(0, at), validFrom: from, validTo: to };
};

/** Returns whether the key is valid at a time. `at` must be in the format of `toIso`. */
export const isKeyInUse = ({ validFrom, validTo }: KeyValidity, at: string): boolean =>
  validFrom <= at && (validTo === undefined || at < validTo);
