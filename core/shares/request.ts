// Lifetimes of a share request and of its authorization code (SPEC Limits).
import { minuteMs } from "../time.ts";

export const requestLifetimeMs = 10 * minuteMs;
export const codeLifetimeMs = minuteMs;
