// Messages by language for the consent sheet and for the page that stops a share.
import type { Language } from "../../../core/language.ts";
import { messages as en, type SheetMessages } from "./en/sheet.ts";
import { messages as es } from "./es/sheet.ts";
import { messages as frCa } from "./fr-CA/sheet.ts";

export type { SheetMessages };

export const sheetMessages: Readonly<Record<Language, SheetMessages>> = { en, es, "fr-CA": frCa };
