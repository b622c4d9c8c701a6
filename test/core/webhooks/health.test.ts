// Tests when owners are alerted that an endpoint is failing.
import { expect, test } from "vitest";
import { shouldAlert } from "../../../core/webhooks/health.ts";

const day = 86_400_000;

test.each([
  [null, 0, day, false],
  [0, 99, day - 1, false],
  [0, 100, 1, true],
  [0, 1, day, true],
])("shouldAlert when failing since %s, %i times in a row, at %i: %s", (failingSince, consecutiveFailures, now, expected) => {
  expect(shouldAlert({ failingSince, consecutiveFailures }, now)).toBe(expected);
});
