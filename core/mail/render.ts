// Renders a template in a language. Separate from templates.ts, whose types the i18n files import.
import { en } from "./i18n/en.ts";
import { es } from "./i18n/es.ts";
import { frCa } from "./i18n/fr-CA.ts";
import type { MailContent } from "./message.ts";
import type { MailLanguage, MailMessages, MailTemplate, TemplatedMail } from "./templates.ts";

const messagesByLanguage: Readonly<Record<MailLanguage, MailMessages>> = { en, es, "fr-CA": frCa };

export const renderMail = (language: MailLanguage, mail: TemplatedMail): MailContent => {
  const [subject, ...lines] = (
    messagesByLanguage[language][mail.template] as (data: TemplatedMail["data"]) => ReturnType<MailMessages[MailTemplate]>
  )(mail.data);
  return { subject, lines };
};
