// Tests a snapshot's text and hash, and a capture's retry schedule.
import { describe, expect, test } from "vitest";
import { maxCaptureAttempts, computeNextCaptureAt } from "../../../core/policies/capture-retries.ts";
import { normalizePolicyText, createPolicyText } from "../../../core/policies/snapshot.ts";
import { minuteMs } from "../../../core/time.ts";

describe("the text of a snapshot", () => {
  test("collapses white space inside lines, trims lines and drops empty ones", () => {
    expect(normalizePolicyText("\r\n  Privacy\u00a0 \tpolicy \n\n\u2003\n We keep\u3000little.\u2028Really. ")).toBe(
      "Privacy policy\nWe keep little.\nReally.",
    );
  });
  test("changes nothing but white space", () => {
    const text = "e\u0301 \u00e9 \u200b\ufeff“quotes” ﬁ Ⅷ\nß";
    expect(normalizePolicyText(text)).toBe(text);
  });
  test("is stable when it is normalized twice", () => {
    const once = normalizePolicyText(" a \n\n b\t\tc\u0085d ");
    expect(normalizePolicyText(once)).toBe(once);
  });
  test("has the same hash for differences in white space only", () => {
    const hash = (text: string): string | undefined => createPolicyText("https://shop.com/p", normalizePolicyText(text))?.contentHash;
    expect(hash("We  keep\n\n little.")).toBe(hash(" We keep \n little."));
    expect(hash("We keep little.")).not.toBe(hash("We keep little"));
    expect(hash("We keep little.")).not.toBe(hash("We Keep little."));
  });
  test("has the SHA-256 of its UTF-8 bytes as hash", () => {
    expect(createPolicyText("https://shop.com/p", "Datenschutzerklärung\nWir speichern wenig.")?.contentHash).toBe(
      "b68c3589f28f7d609eb78a3d2cd0cb8b48335caa934dd1c7aae7f3c83294dcd7",
    );
  });
  test("is null for an empty page", () => {
    expect(createPolicyText("https://shop.com/p", normalizePolicyText(" \n\u00a0\n"))).toBeNull();
  });
});

test("a domain that does not respond is tried eight times in 21 minutes with growing delays", () => {
  let at = 0;
  const delays: number[] = [];
  for (let attempt = 1; attempt < maxCaptureAttempts; attempt += 1) {
    delays.push(computeNextCaptureAt(attempt, at) - at);
    at = computeNextCaptureAt(attempt, at);
  }
  expect(delays).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000]);
  expect(at).toBe(1_270_000);
  expect(computeNextCaptureAt(60, 0)).toBe(15 * minuteMs);
});
