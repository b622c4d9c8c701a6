// Tests when a person's last verification counts as recent.
import { expect, test } from "vitest";
import { isRecentlyVerified } from "../../../core/access/session.ts";
import { minuteMs } from "../../../core/time.ts";

test("isRecentlyVerified returns true for the given minutes and not a millisecond longer", () => {
  const now = 1_900_000_000_000;
  expect(isRecentlyVerified({ verifiedAt: now }, now, 5)).toBe(true);
  expect(isRecentlyVerified({ verifiedAt: now - 5 * minuteMs + 1 }, now, 5)).toBe(true);
  expect(isRecentlyVerified({ verifiedAt: now - 5 * minuteMs }, now, 5)).toBe(false);
});
