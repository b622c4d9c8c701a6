// The countries that people and businesses can choose from.
import { countryCodes } from "../../../core/certificates/field-kinds.ts";
import type { Language } from "../../../core/language.ts";

/** Returns the name of the country, or the text itself if it is not a country code. */
export const getCountryName = (language: Language, code: string): string =>
  countryCodes.has(code) ? (new Intl.DisplayNames(language, { type: "region" }).of(code) ?? code) : code;

/**
 * Maps country codes to names, in alphabetical order of the names. The list is built per request, because building it at startup would slow
 * down the start of every isolate.
 */
export const listCountryNames = (language: Language): Readonly<Record<string, string>> => {
  const names = new Intl.DisplayNames(language, { type: "region" });
  const entries = [...countryCodes].map((code) => [code, names.of(code) ?? code] as const);
  return Object.fromEntries(entries.sort(([, a], [, b]) => a.localeCompare(b, language)));
};
