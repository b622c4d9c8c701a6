// Renders the plain-text body of an email. Codes and links are on separate lines, so that people and programs can find them.
import { toPlainText, type MailContent, type MailFact, type MailLine } from "./message.ts";
import type { Language } from "../language.ts";

/** The colon in each language. French has a non-breaking space before it. */
const colons: Readonly<Record<Language, string>> = { en: ":", es: ":", "fr-CA": "\u00a0:" };

const renderFact = ({ label, values }: MailFact, colon: string): string =>
  values.length === 1 ? `${label}${colon} ${values[0]}` : [`${label}${colon}`, ...values].join("\n");

const renderLine = (line: MailLine, colon: string): string => {
  switch (line.kind) {
    case "paragraph":
      return toPlainText(line.text);
    case "code":
      return line.code;
    case "facts":
      return line.facts.map((fact) => renderFact(fact, colon)).join("\n");
    case "action":
      return `${line.label}${colon}\n${line.link}\n${line.hint}`;
    case "link":
      return `${line.label}${colon}\n${line.link}`;
    case "heading":
      return `${line.heading}\n${toPlainText(line.text)}`;
  }
};

export const renderTextBody = ({ lines, footer }: MailContent, language: Language): string =>
  `${[...lines, ...footer].map((line) => renderLine(line, colons[language])).join("\n\n")}\n`;
