// Messages by language for the app's account pages: identity confirmation, agents, removals, data export and account deletion.
import type { Language } from "../shared/language.ts";
import { messages as en, type AccountMessages } from "./en/account.ts";
import { messages as es } from "./es/account.ts";
import { messages as frCa } from "./fr-CA/account.ts";

export type { AccountMessages };

export const accountMessages: Readonly<Record<Language, AccountMessages>> = { en, es, "fr-CA": frCa };
