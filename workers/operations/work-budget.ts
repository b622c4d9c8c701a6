// Limits the time and the number of queries that background work can use. The platform allows 1,000 queries per invocation, and every query
// beyond that fails. Therefore, work of unknown size checks `hasBudget` before each step and leaves the rest to the next run.
import { secondMs, type Instant } from "../../core/time.ts";
import type { ReadDependencies, Runtime } from "./dependencies.ts";

export interface WorkBudget {
  readonly maxMs: number;
  /** The number of queries. Every statement in a batch counts. */
  readonly maxQueries: number;
}

/**
 * The budget for work that runs after the response has been sent. The platform stops such work after 30 seconds. Three jobs with this
 * budget together stay within an invocation's 1,000 queries.
 */
export const waitUntilBudget: WorkBudget = { maxMs: 15 * secondMs, maxQueries: 300 };

/** Returns services with a separate budget. Work with these services also counts toward the budget of `services`. */
export const withBudget = <S extends ReadDependencies>(services: S, { maxMs, maxQueries }: WorkBudget): S => {
  const until = services.clock() + maxMs;
  let left = maxQueries;
  const shards = services.shards.withQueryCounter((queries) => {
    left -= queries;
  });
  const hasBudget = async (): Promise<boolean> => {
    // In a local runtime, databases and Durable Objects share one thread with the Worker. Work that never waits would block every
    // connection until it ends.
    await scheduler.wait(0);
    return left > 0 && services.clock() < until && services.hasBudget();
  };
  return Object.assign(Object.create(services) as S, { shards, hasBudget });
};

/** Claims due work items one by one, until there are none or the budget is used up. */
export async function* claimEach<Work>({ hasBudget, clock }: Runtime, claim: (now: Instant) => Promise<Work | null>): AsyncGenerator<Work> {
  while (await hasBudget()) {
    const work = await claim(clock());
    if (work === null) return;
    yield work;
  }
}
