// Which language a page is answered in: the reader's own choice in the address, else what the browser asks for.
import { en } from "./i18n/en.ts";
import { es } from "./i18n/es.ts";
import { frCa } from "./i18n/fr-CA.ts";
import type { Messages } from "./i18n/words.ts";

export type Language = "en" | "es" | "fr-CA";

interface Catalog {
  /** The language's name in itself. */
  readonly name: string;
  readonly direction: "ltr" | "rtl";
  /** For `Intl`: "en" alone would put the month first. */
  readonly locale: string;
  readonly messages: Messages;
}

export const catalogs: Readonly<Record<Language, Catalog>> = {
  en: { name: "English", direction: "ltr", locale: "en-GB", messages: en },
  es: { name: "Español", direction: "ltr", locale: "es", messages: es },
  "fr-CA": { name: "Français", direction: "ltr", locale: "fr-CA", messages: frCa },
};

export const languages = Object.keys(catalogs) as readonly Language[];
const defaultLanguage: Language = "en";

/** The language of ours that a language tag asks for, by its first part: every French reader gets the French there is. */
const matchLanguage = (tag: string): Language | null => {
  const primary = tag.toLowerCase().split("-")[0];
  return languages.find((language) => language.toLowerCase().split("-")[0] === primary) ?? null;
};

const maxLanguageRanges = 50; // a longer header is nobody's real preference

/** RFC 9110 12.5.4: the acceptable language with the highest weight; of equal weights the first named. */
const parseAcceptLanguage = (header: string): Language | null => {
  let best: { readonly language: Language; readonly weight: number } | null = null;
  for (const range of header.split(",", maxLanguageRanges)) {
    const [tag = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weightText = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
    const weight = weightText === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weightText) ? Number(weightText) : 0;
    const language = tag === "*" ? defaultLanguage : matchLanguage(tag);
    if (language !== null && weight > 0 && (best === null || weight > best.weight)) best = { language, weight };
  }
  return best?.language ?? null;
};

/** `?lang=` as one of ours, or null. */
export const parseLanguage = (query: string | undefined): Language | null => matchLanguage(query ?? "");

export const selectLanguage = (query: string | undefined, acceptLanguage: string | undefined): Language =>
  parseLanguage(query) ?? parseAcceptLanguage(acceptLanguage ?? "") ?? defaultLanguage;
