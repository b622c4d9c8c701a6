// Renders a template in a language. In a separate file, so that storage can import templates.ts without the text in all languages.
import { en, type MailMessages } from "./i18n/en.ts";
import { es } from "./i18n/es.ts";
import { frCa } from "./i18n/fr-CA.ts";
import { layOutMail, type LayoutContext } from "./layouts.ts";
import type { MailContent } from "./message.ts";
import type { Language } from "../language.ts";
import type { TemplatedMail } from "./templates.ts";

const messagesByLanguage: Readonly<Record<Language, MailMessages>> = { en, es, "fr-CA": frCa };

/** Renders the email with links to the pages of this deployment and its support address. */
export const renderMail = (
  language: Language,
  mail: TemplatedMail,
  deployment: Pick<LayoutContext, "appUrl" | "supportEmail">,
): MailContent => layOutMail(mail, { ...deployment, language, messages: messagesByLanguage[language] });
