// Checks that the test setup refuses `not.toContain` with a string so short that it could occur in a hash, ID or time by chance.
import { describe, expect, test } from "vitest";
import { canOccurByChance } from "../support/flakiness.ts";

const sampleResponse = JSON.stringify({ at: 1_795_550_177, hash: "9f".repeat(64) });

describe("not.toContain", () => {
  test.each(["0177", "late", "D1", "5550177", "cafe"])("is refused for %s, which can occur in an id or a time by chance", (needle) => {
    expect(() => expect(sampleResponse).not.toContain(needle)).toThrow("by chance");
  });

  test.each(["z***", "555 0188", "zebulon", "2025550177", "6.6.6.6"])("is allowed for %s", (needle) => {
    expect(sampleResponse).not.toContain(needle);
    expect(() => expect(`${sampleResponse}${needle}`).not.toContain(needle)).toThrow();
    expect(canOccurByChance(needle)).toBe(false);
  });

  test("is not changed for sentences and lists", () => {
    expect("a sentence").not.toContain("late");
    expect(["a", "list"]).not.toContain("late");
  });
});
