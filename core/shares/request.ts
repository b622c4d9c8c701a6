// A business's request that a person looks at before they decide.
import { minuteMs } from "../time.ts";

/** How long it may be looked at. */
export const requestLifeMs = 10 * minuteMs;
