// Messages for the account pages of the app: confirming identity, agents, removals, data export, account deletion, by language.
import type { Language } from "../shared/language.ts";
import { messages as en, type AccountMessages } from "./en/account.ts";
import { messages as es } from "./es/account.ts";
import { messages as frCa } from "./fr-CA/account.ts";

export type { AccountMessages };

export const accountMessages: Readonly<Record<Language, AccountMessages>> = { en, es, "fr-CA": frCa };
