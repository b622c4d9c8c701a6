// Messages by language for the pages that connect and disconnect an assistant.
import type { Language } from "../../../core/language.ts";
import { messages as en, type ConnectMessages } from "./en/connect.ts";
import { messages as es } from "./es/connect.ts";
import { messages as frCa } from "./fr-CA/connect.ts";

export type { ConnectMessages };

export const connectMessages: Readonly<Record<Language, ConnectMessages>> = { en, es, "fr-CA": frCa };
