// Messages by language for the app (a person's own pages under /app).
import type { Language } from "../../../core/language.ts";
import { messages as en, type AppMessages } from "./en/app.ts";
import { messages as es } from "./es/app.ts";
import { messages as frCa } from "./fr-CA/app.ts";

export type { AppMessages };

export const appMessages: Readonly<Record<Language, AppMessages>> = { en, es, "fr-CA": frCa };
