// Tests retry delays.
import { expect, test } from "vitest";
import { computeRetryDelayMs, addJitter } from "../../core/retry.ts";

test("computeRetryDelayMs doubles the delay with each failure up to the maximum", () => {
  const backoff = { firstMs: 15, maxMs: 100 };
  expect([1, 2, 3, 4, 5, 1_000].map((failures) => computeRetryDelayMs(backoff, failures))).toEqual([15, 30, 60, 100, 100, 100]);
});

test("addJitter varies the delay by up to a quarter in both directions", () => {
  expect([0, 0.5, 1].map((random) => addJitter(1_000, random))).toEqual([750, 1_000, 1_250]);
});
