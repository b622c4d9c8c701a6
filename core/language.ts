// The languages of pages and emails, and the locale of each for `Intl`.

export const languages = ["en", "es", "fr-CA"] as const;
export type Language = (typeof languages)[number];

/** English is not plain "en", because that would put the month before the day. */
export const locales: Readonly<Record<Language, string>> = { en: "en-GB", es: "es", "fr-CA": "fr-CA" };
