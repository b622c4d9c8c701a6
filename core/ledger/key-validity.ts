// When a public key was in use. Settings write it behind the key: `<key>@<valid_to>`, or `<key>@<valid_from>/<valid_to>`, both in
// ISO 8601 as everywhere (2026-11-22T00:00:00.000Z). From `valid_to` on the key signs nothing that is believed.

import { toIso } from "../time.ts";

export interface KeyValidity {
  readonly validFrom: string;
  readonly validTo?: string;
}

export interface KeyWithValidity extends KeyValidity {
  readonly key: string;
}

/** The beginning of a key whose beginning nobody wrote down. */
export const defaultValidFrom = "1970-01-01T00:00:00.000Z";

/** In the one spelling that sorts as text. */
export const isIsoTime = (text: unknown): text is string => {
  const instant = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isFinite(instant) && toIso(instant) === text;
};

/** Null where what stands behind the key is no window. */
export const parseKeyWithValidity = (text: string): KeyWithValidity | null => {
  const at = text.lastIndexOf("@");
  if (at < 0) return { key: text, validFrom: defaultValidFrom };
  const times = text.slice(at + 1).split("/");
  const [from, to] = times.length === 1 ? [defaultValidFrom, times[0]] : times;
  if (times.length > 2 || from === undefined || to === undefined || !isIsoTime(from) || !isIsoTime(to) || from >= to) return null;
  return { key: text.slice(0, at), validFrom: from, validTo: to };
};

/** ISO times in one spelling sort as text. */
export const isKeyInUse = ({ validFrom, validTo }: KeyValidity, at: string): boolean =>
  validFrom <= at && (validTo === undefined || at < validTo);
