// Tests that overlong text is cut off correctly.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText } from "../../core/cut-text.ts";

const family = "👨‍👩‍👧‍👦";

describe("cutText", () => {
  test.each([
    ["a short text", "Pat", 3, "Pat"],
    ["a long text", "Patricia", 3, "Pat"],
    ["an emoji", "ab😀", 3, "ab"],
    ["an emoji of several people", `ab${family}`, 2 + family.length - 1, "ab"],
    ["an emoji with a skin tone", "ab👍🏽", 4, "ab"],
    ["a flag", "ab🇨🇦", 4, "ab"],
    ["a letter with a combining accent", "Andre\u0301", 5, "Andr"],
    ["a syllable of Devanagari", "नमस्ते", 4, "नम"],
    ["a Hangul syllable of several letters", "\u1112\u1161\u11ab\u1100", 2, "\u1112\u1161"],
    ["a line break of two characters", "a\r\nb", 2, "a"],
    ["half an emoji that was there before", "ab\ud83dcd", 3, "ab\ufffd"],
    ["half an emoji in a short text", "ab\ude00", 10, "ab\ufffd"],
    ["nothing", "", 3, ""],
  ])("cuts before %s that does not fit", (_, text, max, cut) => {
    expect(cutText(text, max)).toBe(cut);
  });

  test("cuts a single character that is longer than the limit, but never inside a surrogate pair", () => {
    expect(cutText(`e${"\u0301".repeat(100)}`, 10)).toBe(`e${"\u0301".repeat(9)}`);
    expect(cutText(family, 1)).toBe("");
    expect(cutText(family, 4)).toBe("👨\u200d");
  });

  test("returns the start of the repaired text, well-formed and within the limit", () => {
    const unit = fc.oneof(
      fc.string({ unit: "binary", maxLength: 1 }),
      fc.constantFrom("\ud83d", "\ude00", "\u200d", family, "e\u0301", "🇨", "🇦"),
    );
    fc.assert(
      fc.property(fc.array(unit), fc.integer({ min: 0, max: 40 }), (units, max) => {
        const text = units.join("");
        const cut = cutText(text, max);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(text.toWellFormed().startsWith(cut)).toBe(true);
      }),
    );
  });

  test("cuts a hostile text of one megabyte", () => {
    const text = `e${"\u0301".repeat(1_000_000)}`;
    expect(cutText(text, 100)).toHaveLength(100);
  });
});
