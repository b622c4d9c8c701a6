// Database faults that a development deployment can simulate.

/**
 * The kinds of faults:
 * - `hang`: statements do not run, and the call never returns.
 * - `reset`: statements do not run, and the call fails immediately.
 * - `slow`: statements run 1.5 seconds late.
 * - `lose_answer`: statements run, but the call fails.
 */
export const faultModes = ["hang", "reset", "slow", "lose_answer"] as const;
export type FaultMode = (typeof faultModes)[number];

/**
 * The delay of `slow`. It is longer than a submission waits for its database by default (`INTAKE_WAIT_MS`). Other requests wait for the
 * response.
 */
export const slowAnswerMs = 1_500;
