// What a piece of work in the background may use: time, and queries. The platform lets an invocation ask its databases a thousand queries
// and fails whatever it asks beyond them, so work that comes in any amount asks `goesOn` before each step, and leaves the rest to the
// next minute. Asking lets others have their turn: where databases and objects share one thread with the Worker, as on a machine of one's
// own, work that never waits for anything outside keeps every connection waiting until it is over.
import { secondMs, type Instant } from "../../core/time.ts";
import type { ReadDependencies, Runtime } from "./dependencies.ts";

export interface WorkBudget {
  readonly maxMs: number;
  /** Each statement of a batch is one. */
  readonly maxQueries: number;
}

/** For what follows an answer, which the platform ends thirty seconds after it: three such pieces of work fit into one invocation. */
export const waitUntilBudget: WorkBudget = { maxMs: 15 * secondMs, maxQueries: 300 };

/** The same services, which go on within the allowance only. What they take is taken from the allowance of `services` as well. */
export const withBudget = <S extends ReadDependencies>(services: S, { maxMs, maxQueries }: WorkBudget): S => {
  const until = services.clock() + maxMs;
  let left = maxQueries;
  const shards = services.shards.withQueryCounter((asked) => {
    left -= asked;
  });
  const hasBudget = async (): Promise<boolean> => {
    await scheduler.wait(0); // until whatever came in meanwhile has been taken up
    return left > 0 && services.clock() < until && services.hasBudget();
  };
  return Object.assign(Object.create(services) as S, { shards, hasBudget });
};

/** Work that is due, claimed one by one, until there is none or the allowance is used up. */
export async function* claimEach<Work>({ hasBudget, clock }: Runtime, claim: (now: Instant) => Promise<Work | null>): AsyncGenerator<Work> {
  while (await hasBudget()) {
    const work = await claim(clock());
    if (work === null) return;
    yield work;
  }
}
