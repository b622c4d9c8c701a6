// Tests how named, accepted and rejected recipients are parsed. A person who declined all recipients differs from a person who was never
// asked.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeRecipientName } from "../../../core/certificates/recipients.ts";
import { parseRecipients } from "../../../core/certificates/submission.ts";

const parseNames = (entities: readonly string[], accepted?: readonly string[], rejected?: readonly string[]) =>
  parseRecipients({ entities, accepted, rejected });
const readValue = (...args: Parameters<typeof parseNames>) => {
  const read = parseNames(...args);
  return read.ok ? read.value : read.detail;
};

describe("parseRecipients", () => {
  test("returns unique names sorted by UTF-16 code unit", () => {
    expect(readValue(["Zeta", "zeta", "\ufb33 dalet", "😀 Emoji Co", "Zeta", "€ Euro SA", "Ångström AB"])).toEqual({
      entities: ["Zeta", "zeta", "Ångström AB", "€ Euro SA", "😀 Emoji Co", "\ufb33 dalet"],
    });
  });

  test("omits both lists when the form never asked", () => {
    expect(Object.keys(readValue(["A"]) as object)).toEqual(["entities"]);
  });

  test("keeps an empty list when no recipient was declined", () => {
    expect(readValue(["A", "B"], ["B", "A"], [])).toEqual({ entities: ["A", "B"], answered: { accepted: ["A", "B"], rejected: [] } });
    expect(readValue(["A", "B"], [], [])).toEqual({ entities: ["A", "B"], answered: { accepted: [], rejected: [] } });
  });

  test("drops an answer about a name that was not declared", () => {
    expect(readValue(["A"], ["A", "Unknown", ""], ["Other", "\u0000"])).toEqual({
      entities: ["A"],
      answered: { accepted: ["A"], rejected: [] },
    });
  });

  test("puts a declared name without an answer in neither list", () => {
    expect(readValue(["A", "B", "C"], ["A"], ["C"])).toEqual({ entities: ["A", "B", "C"], answered: { accepted: ["A"], rejected: ["C"] } });
  });

  test("treats names that differ only in Unicode form or surrounding spaces as the same, stored as first declared (F6)", () => {
    expect(readValue(["Caf\u00e9", " Cafe\u0301 "], ["Cafe\u0301"], [])).toEqual({
      entities: ["Caf\u00e9"],
      answered: { accepted: ["Caf\u00e9"], rejected: [] },
    });
  });

  test.each<readonly [string, Parameters<typeof parseNames>, string]>([
    ["no names", [[]], "1 to 1,000"],
    ["1,001 names", [Array.from({ length: 1_001 }, (_, at) => `E${at}`)], "1 to 1,000"],
    ["an empty name", [["A", " "]], "empty"],
    ["201 characters", [["x".repeat(201)]], "200"],
    ["a control character", [["A\u0007"]], "control"],
    ["an invisible name", [["\u200b"]], "invisible"],
    ["accepted alone", [["A"], ["A"]], "both or neither"],
    ["rejected alone", [["A"], undefined, ["A"]], "both or neither"],
    ["a name in both", [["A"], ["A"], ["A"]], "must not contain the same name"],
    ["a name in both in two forms", [["Caf\u00e9"], ["Caf\u00e9"], ["Cafe\u0301"]], "must not contain the same name"],
  ])("refuses %s", (_name, args, rule) => {
    expect(readValue(...args)).toContain(rule);
  });

  test.each<readonly [string, readonly string[], number]>([
    ["1,000 names", Array.from({ length: 1_000 }, (_, at) => `E${at}`), 1_000],
    ["200 characters", ["x".repeat(200)], 1],
    ["200 characters between spaces", [`  ${"x".repeat(200)} `], 1],
    ["the same name a thousand times", Array<string>(1_000).fill("A"), 1],
  ])("accepts %s", (_name, entities, count) => {
    const read = parseNames(entities);
    expect(read.ok && read.value.entities.length).toBe(count);
  });

  test("returns disjoint, sorted subsets of the names, independent of order and repetition (F2)", () => {
    const names = fc.uniqueArray(fc.constantFrom("A", "b", "Ç", "C\u0327", "\ufb33", "😀", "zeta", "Z"), { minLength: 1 });
    const entityNames = fc.array(fc.constantFrom("A", "b", "Ç", "\ufb33", "😀", "zeta", "Unknown"));
    fc.assert(
      fc.property(names, entityNames, entityNames, (entities, accepted, rejected) => {
        const read = parseNames(entities, accepted, rejected);
        const clash = accepted.some(
          (name) => rejected.includes(name) && entities.some((entity) => entity.normalize() === name.normalize()),
        );
        expect(read.ok).toBe(!clash);
        if (!read.ok || read.value.answered === undefined) return;
        const { entities: kept, answered } = read.value;
        for (const list of [kept, answered.accepted, answered.rejected]) expect(list).toEqual([...new Set(list)].sort());
        for (const name of [...answered.accepted, ...answered.rejected]) expect(kept).toContain(name);
        expect(answered.accepted.filter((name) => answered.rejected.includes(name))).toEqual([]);
        const turned = parseNames(kept.toReversed(), [...accepted, ...accepted].reverse(), [...rejected, "Unknown"]);
        expect(turned).toEqual(read);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("normalizeRecipientName", () => {
  test("does not normalize a text with more than 800 UTF-16 units, which cannot be a recipient's name", () => {
    expect(normalizeRecipientName(" e\u0301".repeat(200))).toBe(" \u00e9".repeat(200).trim());
    const long = "e\u0301".repeat(401);
    expect(normalizeRecipientName(long)).toBe(long);
  });
});
