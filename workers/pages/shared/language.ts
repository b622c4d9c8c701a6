// Selects the language of a page: the reader's explicit choice first, then the browser's preference.
import { languages, type Language } from "../../../core/language.ts";

interface LanguageInfo {
  /** The language's name in that language. */
  readonly name: string;
  readonly direction: "ltr" | "rtl";
}

export const languageInfo: Readonly<Record<Language, LanguageInfo>> = {
  en: { name: "English", direction: "ltr" },
  es: { name: "Español", direction: "ltr" },
  "fr-CA": { name: "Français", direction: "ltr" },
};

const defaultLanguage: Language = "en";

/** Matches a language tag by its primary subtag, so that, for example, every French tag selects the only French translation. */
const matchLanguage = (tag: string): Language | null => {
  const primary = tag.toLowerCase().split("-")[0];
  return languages.find((language) => language.toLowerCase().split("-")[0] === primary) ?? null;
};

const maxLanguageRanges = 50; // real browsers never send more than this

/** Returns the supported language with the highest weight (RFC 9110, section 12.5.4). The first language listed wins a tie. */
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

/** Parses the value of `?lang=`. Returns null if it is missing or not supported. */
export const parseLanguage = (query: string | undefined): Language | null => matchLanguage(query ?? "");

export const selectLanguage = (query: string | undefined, acceptLanguage: string | undefined): Language =>
  parseLanguage(query) ?? parseAcceptLanguage(acceptLanguage ?? "") ?? defaultLanguage;
