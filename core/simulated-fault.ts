// Database faults that a development deployment can simulate.

/**
 * - hang: statements are not run and never answered.
 * - reset: statements are not run, and the call fails at once.
 * - slow: statements run 1.5 seconds late.
 * - lose_answer: statements run, but the call fails.
 */
export const faultModes = ["hang", "reset", "slow", "lose_answer"] as const;
export type FaultMode = (typeof faultModes)[number];

/** For `slow`: longer than a submission waits for its database (`INTAKE_WAIT_MS`), and shorter than other requests wait. */
export const slowAnswerMs = 1_500;
