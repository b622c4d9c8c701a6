// Tests email addresses: which strings are valid, and which spellings are equal.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeEmailAddress, isEmailAddress, isSameEmailAddress } from "../../core/email-address.ts";
import { anyCharacter } from "../support/characters.ts";

describe("isEmailAddress and normalizeEmailAddress", () => {
  test.each<readonly [string, string]>([
    ["a plain form", "pat@example.com"],
    ["plus addressing", "pat+solar@example.com"],
    ["dots", "pat.q.public@mail.example.co.uk"],
    ["one letter", "a@b.co"],
    ["digits", "1234567890@example.com"],
    ["every symbol of an atom", "!#$%&'*+/=?^_`{|}~-@example.com"],
    ["letters of another script", "жук@example.com"],
    ["a decomposed letter", "rene\u0301@example.com"],
    ["an international domain", "zoë@exämple.test"],
    ["a domain in punycode", "zoe@xn--exmple-cua.test"],
    ["upper case", "Pat@EXAMPLE.COM"],
    ["a label with dashes", "pat@my-example--x.com"],
    ["64 characters before the @", `${"a".repeat(64)}@example.com`],
    ["254 characters", `a@${`${"b".repeat(60)}.`.repeat(4)}`.padEnd(254, "e")],
  ])("accept an address with %s", (_name, address) => {
    expect(isEmailAddress(address)).toBe(true);
  });

  test.each<readonly [string, string]>([
    ["no characters", ""],
    ["no @", "pat.example.com"],
    ["nothing before the @", "@example.com"],
    ["nothing after the @", "pat@"],
    ["two @", "pat@home@example.com"],
    ["a single label", "pat@localhost"],
    ["a numeric address", "pat@127.0.0.1"],
    ["a numeric address in hex", "pat@0x7f.1"],
    ["a bracketed address", "pat@[127.0.0.1]"],
    ["a bracketed IPv6 address", "pat@[IPv6:::1]"],
    ["a quoted name", '"pat q"@example.com'],
    ["a display name", "Pat <pat@example.com>"],
    ["angle brackets", "<pat@example.com>"],
    ["a comma", "pat@example.com,eve@example.com"],
    ["a semicolon", "pat@example.com;eve@example.com"],
    ["a colon", "mailto:pat@example.com"],
    ["a space before it", " pat@example.com"],
    ["a space inside", "pat q@example.com"],
    ["a line break and a header", "pat@example.com\r\nBcc: eve@example.com"],
    ["a line break at the end", "pat@example.com\n"],
    ["NUL", "pat\u0000@example.com"],
    ["a comment", "pat(comment)@example.com"],
    ["a dot first", ".pat@example.com"],
    ["a dot last", "pat.@example.com"],
    ["two dots", "pat..q@example.com"],
    ["a domain with a dot first", "pat@.example.com"],
    ["a domain with a dot last", "pat@example.com."],
    ["a domain with two dots", "pat@example..com"],
    ["a domain with an underscore", "pat@ex_ample.com"],
    ["a label that starts with a dash", "pat@-example.com"],
    ["a label that ends with a dash", "pat@example-.com"],
    ["a port", "pat@example.com:25"],
    ["a path", "pat@example.com/x"],
    ["a query", "pat@example.com?x"],
    ["percent in the domain", "pat@ex%61mple.com"],
    ["a label of 64", `pat@${"a".repeat(64)}.com`],
    ["65 characters before the @", `${"a".repeat(65)}@example.com`],
    ["255 characters", `a@${`${"b".repeat(60)}.`.repeat(4)}`.padEnd(255, "e")],
    ["a zero-width space", "pat\u200b@example.com"],
    ["an override", "pat\u202e@example.com"],
    ["a soft hyphen in the domain", "pat@exa\u00admple.com"],
    ["an ideographic dot", "pat@example\u3002com"],
  ])("refuse an address with %s", (_name, address) => {
    expect(isEmailAddress(address)).toBe(false);
    expect(normalizeEmailAddress(address.trim() === address ? address : `${address}@`)).toBeNull();
  });

  test.each<readonly [string, string, string]>([
    ["case", "Pat@Example.COM", "pat@example.com"],
    ["space around", "  pat@example.com\t", "pat@example.com"],
    ["a byte order mark and a zero-width space around", "\ufeffpat@example.com\u200b", "pat@example.com"],
    ["direction marks around", "\u202a pat@example.com\u202c\u200f", "pat@example.com"],
    ["Unicode form of the name", "rene\u0301@example.com", "ren\u00e9@example.com"],
    ["Unicode form of the domain", "zoe@exa\u0308mple.test", "zoe@xn--exmple-cua.test"],
    ["domain as punycode", "zoe@XN--EXMPLE-CUA.test", "zoe@xn--exmple-cua.test"],
    ["plus addressing is kept", "pat+solar@example.com", "pat+solar@example.com"],
    ["dots are kept", "p.a.t@gmail.com", "p.a.t@gmail.com"],
  ])("normalize the address: %s", (_name, address, comparable) => {
    expect(normalizeEmailAddress(address)).toBe(comparable);
  });

  test("accept no character that could carry an email header or a second recipient", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.emailAddress(),
          fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => `${text}@example.com`),
        ),
        (address) => {
          if (!isEmailAddress(address)) return;
          expect(address).not.toMatch(/[\s"(),:;<>[\\\]\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e]/);
          expect(address.split("@")).toHaveLength(2);
          const comparable = normalizeEmailAddress(address) as string;
          expect(normalizeEmailAddress(comparable)).toBe(comparable);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("isSameEmailAddress", () => {
  test.each([
    ["pat@example.com", " pat@EXAMPLE.com ", true],
    ["pat@b\u00fccher.example", "pat@xn--bcher-kva.example", true],
    ["zo\u00eb@example.com", "zoe\u0308@example.com", true],
    ["pat@example.com", "Pat@example.com", false],
    ["pat@example.com", "pat@example.org", false],
    ["pat@example.com", "", false],
    ["", "", false],
  ])("compares %j with %j: %s", (first, second, isSame) => {
    expect([isSameEmailAddress(first, second), isSameEmailAddress(second, first)]).toEqual([isSame, isSame]);
  });
});
