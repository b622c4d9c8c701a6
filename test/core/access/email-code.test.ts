// Tests that codes from emails are accepted as people type and paste them.
import { describe, expect, test } from "vitest";
import { parseEmailCode } from "../../../core/access/email-code.ts";

describe("parseEmailCode", () => {
  test.each([
    ["a space", "042 917"],
    ["spaces everywhere", " 0 4 2 9 1 7 "],
    ["a no-break space and a tab", "042\u00a0917\t"],
    ["a line break", "042917\r\n"],
    ["a dash", "042-917"],
    ["an en dash", "042–917"],
    ["a minus sign from a phone keyboard", "042‐917"],
    ["a period", "042917."],
    ["an ideographic full stop", "042917。"],
    ["quotation marks", "“042917”"],
    ["parentheses and a colon", "(042917):"],
    ["full-width digits", "０４２９１７"],
    ["full-width digits and space", "０４２\u3000９１７"],
    ["Arabic digits", "٠٤٢٩١٧"],
    ["Devanagari digits", "०४२९१७"],
    ["invisible marks", "\u200e\ufeff042\u200b917\u2060"],
    ["direction controls", "\u2066042917\u2069"],
    ["keycap emoji", "0️⃣4️⃣2️⃣9️⃣1️⃣7️⃣"],
    ["bold digits", "𝟎𝟒𝟐𝟗𝟏𝟕"],
    ["backticks from a chat", "`042917`"],
    ["angle brackets and a soft line break", "<042917>=\r\n"],
    ["quote marks and bars", "> |042917|"],
  ])("reads a code with %s", (_name, typed) => {
    expect(parseEmailCode(typed)).toBe("042917");
  });

  test.each(["", "12345", "1234567", "12345a", "123456a", "code", "½23456", "123 456 7"])("refuses %j", (typed) => {
    expect(parseEmailCode(typed)).toBeNull();
  });

  test("refuses a code with more than 200 characters, even if the others are only marks", () => {
    expect(parseEmailCode(`042917${"\u0301".repeat(194)}`)).toBe("042917");
    expect(parseEmailCode(`042917${"\u0301".repeat(195)}`)).toBeNull();
  });
});
