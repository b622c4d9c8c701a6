// Tests which times are accepted in a key's validity period.
import { expect, test } from "vitest";
import { isIsoTime } from "../../../core/ledger/key-validity.ts";
import { toIso } from "../../../core/time.ts";

test("isIsoTime accepts only times that sort as text", () => {
  expect(isIsoTime("2026-11-22T00:00:00.000Z")).toBe(true);
  const yearTenThousand = toIso(Date.UTC(10_000, 0, 1));
  expect(yearTenThousand < "2026").toBe(true);
  expect(isIsoTime(yearTenThousand)).toBe(false);
  expect(isIsoTime("2026-02-30T00:00:00.000Z")).toBe(false);
});
