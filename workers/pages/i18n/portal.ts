// Messages for the business portal. The portal is available in English only. To add a language, add its catalog here.
import { messages as en } from "./en/portal.ts";

export const portalMessages = { en } as const;
