// Tests how field values are masked on public pages.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { maskFieldValue } from "../../core/masking.ts";

describe("maskFieldValue", () => {
  test.each([
    ["email", "john.doe@example.com", "j***@e***.com"],
    ["email", "a@mail.example.co.uk", "a***@m***.uk"],
    ["email", "zoë@exämple.test", "z***@e***.test"],
    ["email", "😀face@example.com", "😀***@e***.com"],
    ["email", "no address", "***"],
    ["email", "@example.com", "***"],
    ["email", "", ""],
    ["phone", "+1 (555) 555-0167", "***-***-**67"],
    ["phone", "15555550167", "***-***-**67"],
    ["mobile", "0151 23456789", "***-***-**89"],
    ["phone", "call my mother", "***"],
    ["phone", "12", "***"],
    ["phone", "123", "***"],
    ["phone", "1234", "***-***-**34"],
    ["phone", "", ""],
    ["first_name", "Jane", "J***"],
    ["last_name", "Ørsted", "Ø***"],
    ["full_name", "Jane Ørsted", "J***"],
    ["first_name", "𝕁ane", "𝕁***"],
    ["first_name", "", ""],
    ["address_line1", "1 Test St", "***"],
    ["zip", "94000", "***"],
    ["date_of_birth", "1980-01-01", "***"],
    ["message", "hello", "***"],
    ["anything_else", "x", "***"],
    ["constructor", "x", "***"],
    ["__proto__", "x", "***"],
    ["anything_else", "", ""],
  ])("masks %s %j as %j", (key, value, shown) => {
    expect(maskFieldValue(key, value)).toBe(shown);
  });

  test("hides the length of a value", () => {
    for (const key of ["email", "phone", "first_name", "message"]) {
      const maskValue = (middle: string): string =>
        maskFieldValue(key, { email: `j${middle}@example.com`, phone: `${middle.replace(/./g, "5")}67` }[key] ?? `j${middle}`);
      expect(new Set(["aaaa", "aaaaaaa", "aaaaaaaaaaaaaaaaaaaa"].map(maskValue)).size, key).toBe(1);
    }
  });

  test("keeps at most the first letters, two digits and the last label of a long value", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("email", "phone", "first_name", "zip", "message"),
        fc.string({ minLength: 8, unit: "grapheme" }),
        (key, value) => {
          const shown = maskFieldValue(key, value);
          if (key !== "email") expect([...shown].length).toBeLessThanOrEqual(12);
          expect(shown).toContain("***");
        },
      ),
    );
  });
});
