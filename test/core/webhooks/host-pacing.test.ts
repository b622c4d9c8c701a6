// Tests the pause between attempts to a host that has never responded with 2xx.
import { expect, test } from "vitest";
import { computeHostPauseMs } from "../../../core/webhooks/host-pacing.ts";

const minute = 60_000;

test("pauses after 50 attempts for one minute, and twice as long after every 10 more, up to one hour", () => {
  const pauses = [0, 49, 50, 59, 60, 70, 80, 90, 100, 109, 110, 1_000_000].map((attempts) => computeHostPauseMs(attempts) / minute);
  expect(pauses).toEqual([0, 0, 1, 1, 2, 4, 8, 16, 32, 32, 60, 60]);
});
