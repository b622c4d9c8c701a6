// Messages by language for the public pages (certificate, verification, withdrawal, home page, notices) and the page layout.
import type { Language } from "../../../core/language.ts";
import { messages as en, type PublicMessages } from "./en/public.ts";
import { messages as es } from "./es/public.ts";
import { messages as frCa } from "./fr-CA/public.ts";

export type { PublicMessages };

export const publicMessages: Readonly<Record<Language, PublicMessages>> = { en, es, "fr-CA": frCa };
