// No test looks for a word so short that chance can write it into a hash, an id or a time.
import { describe, expect, test } from "vitest";
import { canOccurByChance } from "../support/flakiness.ts";

const sampleResponse = JSON.stringify({ at: 1_795_550_177, hash: "9f".repeat(64) });

describe("saying that something is not in an answer", () => {
  test.each(["0177", "late", "D1", "5550177", "cafe"])("is refused for %s, which an id or a time may hold", (needle) => {
    expect(() => expect(sampleResponse).not.toContain(needle)).toThrow("by chance");
  });

  test.each(["z***", "555 0188", "zebulon", "2025550177", "6.6.6.6"])("is said for %s", (needle) => {
    expect(sampleResponse).not.toContain(needle);
    expect(() => expect(`${sampleResponse}${needle}`).not.toContain(needle)).toThrow();
    expect(canOccurByChance(needle)).toBe(false);
  });

  test("is said of sentences and lists as before", () => {
    expect("a sentence").not.toContain("late");
    expect(["a", "list"]).not.toContain("late");
  });
});
