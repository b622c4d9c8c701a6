// The schema of a limiter, step by step.

export const rateLimiterSteps: readonly string[] = ["CREATE TABLE IF NOT EXISTS calls (at INTEGER NOT NULL);"];
