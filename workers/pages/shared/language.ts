// Which language a page is answered in: the reader's own choice in the address, else what the browser asks for.
import { en } from "./i18n/en.ts";
import { es } from "./i18n/es.ts";
import { frCa } from "./i18n/fr-CA.ts";
import type { Words } from "./i18n/words.ts";

export type Language = "en" | "es" | "fr-CA";

interface Catalogue {
  /** The language's name in itself. */
  readonly name: string;
  readonly direction: "ltr" | "rtl";
  /** For `Intl`: "en" alone would put the month first. */
  readonly locale: string;
  readonly words: Words;
}

export const catalogues: Readonly<Record<Language, Catalogue>> = {
  en: { name: "English", direction: "ltr", locale: "en-GB", words: en },
  es: { name: "Español", direction: "ltr", locale: "es", words: es },
  "fr-CA": { name: "Français", direction: "ltr", locale: "fr-CA", words: frCa },
};

export const languages = Object.keys(catalogues) as readonly Language[];
const fallback: Language = "en";

/** The language of ours that a language tag asks for, by its first part: every French reader gets the French there is. */
const ours = (tag: string): Language | null => {
  const primary = tag.toLowerCase().split("-")[0];
  return languages.find((language) => language.toLowerCase().split("-")[0] === primary) ?? null;
};

const maxRanges = 50; // a longer header is nobody's real preference

/** RFC 9110 12.5.4: the acceptable language with the highest weight; of equal weights the first named. */
const acceptedLanguage = (header: string): Language | null => {
  let best: { readonly language: Language; readonly weight: number } | null = null;
  for (const range of header.split(",", maxRanges)) {
    const [tag = "", ...parameters] = range.split(";").map((part) => part.trim());
    const weightText = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
    const weight = weightText === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weightText) ? Number(weightText) : 0;
    const language = tag === "*" ? fallback : ours(tag);
    if (language !== null && weight > 0 && (best === null || weight > best.weight)) best = { language, weight };
  }
  return best?.language ?? null;
};

/** `?lang=` as one of ours, or null. */
export const chosenLanguage = (query: string | undefined): Language | null => ours(query ?? "");

export const pageLanguage = (query: string | undefined, acceptLanguage: string | undefined): Language =>
  chosenLanguage(query) ?? acceptedLanguage(acceptLanguage ?? "") ?? fallback;
