// The schema of a rate limiter: the times of the calls in the current window.

export const rateLimiterSteps: readonly string[] = ["CREATE TABLE calls (at INTEGER NOT NULL);"];
