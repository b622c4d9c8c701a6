// The languages of pages and emails, and the locale of each for `Intl`.

export const languages = ["en", "es", "fr-CA"] as const;
export type Language = (typeof languages)[number];

/**
 * Plain "en" would put the month before the day. Plain "es" would write 12,345 as 12.345, which readers in the Americas read as a decimal
 * fraction.
 */
export const locales: Readonly<Record<Language, string>> = { en: "en-GB", es: "es-419", "fr-CA": "fr-CA" };

export const capitalize = (language: Language, text: string): string => text.charAt(0).toLocaleUpperCase(language) + text.slice(1);

export const uncapitalize = (language: Language, text: string): string => text.charAt(0).toLocaleLowerCase(language) + text.slice(1);
