// Tests processing with limited concurrency, both for all items of a list and for items that are claimed one by one.
import { expect, test } from "vitest";
import { forEachConcurrently } from "../../workers/background/for-each-concurrently.ts";

test("runs the work once for every item, at most the limit at the same time, and a free slot takes the next item", async () => {
  const [taken, underWay]: [number[], number[]] = [[], []];
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  let open = 0;
  const all = forEachConcurrently(2, [0, 1, 2, 3, 4, 5], async (item) => {
    taken.push(item);
    open += 1;
    underWay.push(open);
    await gates[item]?.promise;
    open -= 1;
  });
  for (const finished of [1, 2, 3, 4, 0, 5]) {
    gates[finished]?.resolve();
    await scheduler.wait(0);
  }
  await all;
  expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  expect(Math.max(...underWay)).toBe(2);
});

test("claims an item only when a slot is free", async () => {
  let claimed = 0;
  const gate = Promise.withResolvers<void>();
  async function* generateClaims(): AsyncGenerator<number> {
    for (; claimed < 5; ) {
      claimed += 1;
      yield claimed;
    }
  }
  const completed: number[] = [];
  const all = forEachConcurrently(2, generateClaims(), async (item) => {
    await gate.promise;
    completed.push(item);
  });
  await scheduler.wait(5);
  expect(claimed).toBe(2);
  gate.resolve();
  await all;
  expect(completed).toEqual([1, 2, 3, 4, 5]);
});
