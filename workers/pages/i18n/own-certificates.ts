// Messages by language for the app pages about consents given on forms.
import type { Language } from "../shared/language.ts";
import { messages as en, type OwnCertificateMessages } from "./en/own-certificates.ts";
import { messages as es } from "./es/own-certificates.ts";
import { messages as frCa } from "./fr-CA/own-certificates.ts";

export type { OwnCertificateMessages };

export const ownCertificateMessages: Readonly<Record<Language, OwnCertificateMessages>> = { en, es, "fr-CA": frCa };
