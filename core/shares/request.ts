// A business's request that a person looks at before they decide.
import { minuteMs } from "../time.ts";

/** How long it may be looked at. */
export const requestLifetimeMs = 10 * minuteMs;
/** How long the code of a decision can be redeemed (SPEC, Limits). */
export const codeLifetimeMs = minuteMs;
