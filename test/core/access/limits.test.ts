// Tests the default rate limits, and the sliding window that counts requests per address.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AddressWindows } from "../../../workers/adapters/address-windows.ts";
import { defaultLimits, parseLimits } from "../../../workers/limits.ts";

const read = (settings: Record<string, string>, scale = 1) => parseLimits((name) => settings[name], scale);

describe("parseLimits", () => {
  test("returns the published limits by default", () => {
    const { limits, faults } = read({});
    expect(faults).toEqual([]);
    expect(limits.API_KEY).toMatchObject({ count: 120, seconds: 60 });
    expect(limits.CONSENT_PER_IP).toMatchObject({ count: 60, seconds: 60 });
    expect(limits.CONSENT_PER_CLIENT).toMatchObject({ count: 600, seconds: 60 });
    expect(limits.VERIFY_PER_IP).toMatchObject({ count: 120, seconds: 60 });
  });

  test("changes only the limit named by a setting", () => {
    const { limits } = read({ LIMIT_CONSENT_PER_IP: "5/10" });
    expect(limits.CONSENT_PER_IP).toMatchObject({ count: 5, seconds: 10 });
    expect(limits.VERIFY_PER_IP).toMatchObject({ count: 120, seconds: 60 });
  });

  test("scales the limits by address and client but never the limit of API keys", () => {
    const { limits } = read({}, 1_000);
    expect(limits.CONSENT_PER_IP.count).toBe(60_000);
    expect(limits.API_KEY.count).toBe(120);
    for (const [name, preset] of Object.entries(defaultLimits)) {
      expect(limits[name as keyof typeof limits].count, name).toBe(preset.scaled ? preset.count * 1_000 : preset.count);
    }
  });

  test("never scales a limit below one", () => {
    expect(read({}, 0.0001).limits.CONSENT_PER_IP.count).toBe(1);
  });

  test.each(["", "5", "5/", "/10", "0/10", "5/0", "-5/10", "5.5/10", "5/10 ", "5/10/2", "1e3/10", "five/ten", "12345678/10"])(
    "reports the setting %j with its value and the allowed range",
    (text) => {
      expect(read({ LIMIT_VERIFY_PER_IP: text }).faults).toEqual([
        `LIMIT_VERIFY_PER_IP="${text}" (must be <count>/<seconds> with count 1 to 9999999 and seconds 1 to 99999)`,
      ]);
    },
  );
});

describe("AddressWindows", () => {
  const limit = { count: 3, seconds: 10 };

  test("allows as many calls as the limit, refuses the next one, and allows another for each that leaves the window", () => {
    const windows = new AddressWindows();
    expect([0, 1_000, 2_000].map((now) => windows.take("a", limit, now))).toEqual([
      { isAllowed: true, remaining: 2, resetMs: 10_000 },
      { isAllowed: true, remaining: 1, resetMs: 9_000 },
      { isAllowed: true, remaining: 0, resetMs: 8_000 },
    ]);
    expect(windows.take("a", limit, 3_000)).toEqual({ isAllowed: false, remaining: 0, resetMs: 7_000 });
    expect(windows.take("a", limit, 9_999)).toEqual({ isAllowed: false, remaining: 0, resetMs: 1 });
    expect(windows.take("a", limit, 10_000)).toMatchObject({ isAllowed: true, remaining: 0 });
    expect(windows.take("a", limit, 10_001)).toMatchObject({ isAllowed: false });
    expect(windows.take("b", limit, 10_001)).toMatchObject({ isAllowed: true, remaining: 2 });
  });

  test("never allows more calls than the limit in any window, regardless of their timing", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4_000 }), { maxLength: 60 }), (pauses) => {
        const windows = new AddressWindows();
        const taken: number[] = [];
        let now = 0;
        for (const pause of pauses) {
          now += pause;
          if (windows.take("a", limit, now).isAllowed) taken.push(now);
        }
        for (const end of taken) expect(taken.filter((at) => at > end - 10_000 && at <= end).length).toBeLessThanOrEqual(3);
      }),
    );
  });

  test("does not extend the refusal when refused calls repeat", () => {
    const windows = new AddressWindows();
    for (let now = 0; now < 10_000; now += 100) windows.take("a", limit, now);
    expect(windows.take("a", limit, 10_200).isAllowed).toBe(true);
  });
});
