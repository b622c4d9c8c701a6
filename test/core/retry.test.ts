// How long what failed waits.
import { expect, test } from "vitest";
import { computeRetryDelayMs, addJitter } from "../../core/retry.ts";

test("doubles with each failure, up to the longest", () => {
  const backoff = { firstMs: 15, maxMs: 100 };
  expect([1, 2, 3, 4, 5, 1_000].map((failures) => computeRetryDelayMs(backoff, failures))).toEqual([15, 30, 60, 100, 100, 100]);
});

test("is spread by a quarter either way", () => {
  expect([0, 0.5, 1].map((random) => addJitter(1_000, random))).toEqual([750, 1_000, 1_250]);
});
