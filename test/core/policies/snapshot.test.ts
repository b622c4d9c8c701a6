// The text and the hash of a snapshot, and how long a silent domain is waited for.
import { describe, expect, test } from "vitest";
import { maxCaptureAttempts, computeNextCaptureAt } from "../../../core/policies/capture-retries.ts";
import { normalizePolicyText, createPolicyText } from "../../../core/policies/snapshot.ts";
import { minuteMs } from "../../../core/time.ts";

describe("the text of a snapshot", () => {
  test("white space is one space inside a line, nothing around it, and no empty line stays", () => {
    expect(normalizePolicyText("\r\n  Privacy\u00a0 \tpolicy \n\n\u2003\n We keep\u3000little.\u2028Really. ")).toBe(
      "Privacy policy\nWe keep little.\nReally.",
    );
  });
  test("nothing but white space changes", () => {
    const text = "e\u0301 \u00e9 \u200b\ufeff“quotes” ﬁ Ⅷ\nß";
    expect(normalizePolicyText(text)).toBe(text);
  });
  test("normalising twice changes nothing more", () => {
    const once = normalizePolicyText(" a \n\n b\t\tc\u0085d ");
    expect(normalizePolicyText(once)).toBe(once);
  });
  test("texts that differ only in white space have one hash, every other difference another", () => {
    const hash = (text: string): string | undefined => createPolicyText("https://shop.com/p", normalizePolicyText(text))?.contentHash;
    expect(hash("We  keep\n\n little.")).toBe(hash(" We keep \n little."));
    expect(hash("We keep little.")).not.toBe(hash("We keep little"));
    expect(hash("We keep little.")).not.toBe(hash("We Keep little."));
  });
  test("the hash is SHA-256 of the UTF-8 bytes", () => {
    expect(createPolicyText("https://shop.com/p", "Datenschutzerklärung\nWir speichern wenig.")?.contentHash).toBe(
      "b68c3589f28f7d609eb78a3d2cd0cb8b48335caa934dd1c7aae7f3c83294dcd7",
    );
  });
  test("a page without a word is no policy", () => {
    expect(createPolicyText("https://shop.com/p", normalizePolicyText(" \n\u00a0\n"))).toBeNull();
  });
});

test("a domain that does not answer is tried eight times in twenty-one minutes, ever less often", () => {
  let at = 0;
  const waits: number[] = [];
  for (let attempt = 1; attempt < maxCaptureAttempts; attempt += 1) {
    waits.push(computeNextCaptureAt(attempt, at) - at);
    at = computeNextCaptureAt(attempt, at);
  }
  expect(waits).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000]);
  expect(at).toBe(1_270_000);
  expect(computeNextCaptureAt(60, 0)).toBe(15 * minuteMs);
});
