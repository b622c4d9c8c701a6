// Messages of the business portal. The portal is available in English only; a translation is one more catalog here.
import { messages as en } from "./en/portal.ts";

export const portalMessages = { en } as const;
