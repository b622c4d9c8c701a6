// Tests contact fields: how a scope is parsed and stored as bits, and how values are validated.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseRequestedScope,
  applyFieldChanges,
  contactKeys,
  fieldGroupNames,
  groupsFromKeys,
  filterKeysInGroup,
  isContactKey,
  scopeToBits,
  scopeFromBits,
  getScopedValues,
  type ContactFields,
  type ContactKey,
} from "../../../core/shares/fields.ts";

const subset = fc.subarray([...contactKeys]);
const toE164 = (text: string, country: string): string | null =>
  /^[+\d ()-]{7,}$/.test(text) ? `+${country === "US" ? "1" : "44"}${text.replaceAll(/\D/g, "").slice(-10)}` : null;
const change = (current: ContactFields, entries: readonly (readonly [ContactKey, string | null])[], now = 5) =>
  applyFieldChanges(current, new Map(entries), now, toE164);
const isRefused = (key: ContactKey, value: string): boolean => !change({}, [[key, value]]).ok;

describe("a scope", () => {
  test("has ten keys in a fixed order, each in one group", () => {
    expect(contactKeys).toEqual([
      "email",
      "phone",
      "address_line1",
      "address_line2",
      "city",
      "state",
      "zip",
      "country",
      "first_name",
      "last_name",
    ]);
    for (const key of contactKeys) expect(fieldGroupNames.filter((group) => filterKeysInGroup([key], group).length === 1)).toHaveLength(1);
    for (const word of ["toString", "__proto__", "constructor", "Email", " email", ""]) expect(isContactKey(word)).toBe(false);
  });

  test("round-trips through its bits, and unknown bits are ignored", () => {
    fc.assert(
      fc.property(subset, (scope) => {
        expect(scopeFromBits(scopeToBits(scope))).toEqual(scope);
      }),
    );
    expect(scopeToBits(["email"])).toBe(1);
    expect(scopeToBits(["last_name"])).toBe(512);
    expect(scopeToBits(contactKeys)).toBe(1_023);
    expect(scopeFromBits(0)).toEqual([]);
    expect(scopeFromBits(1_024)).toEqual([]);
  });

  test.each([
    [["email", "phone?"], ["email", "phone"], ["email"]],
    [
      ["name", "email"],
      ["email", "first_name", "last_name"],
      ["email", "first_name", "last_name"],
    ],
    [["address?", "zip"], ["address_line1", "address_line2", "city", "state", "zip", "country"], ["zip"]],
    [["phone", "phone?"], ["phone"], ["phone"]],
    [["phone?", "phone"], ["phone"], ["phone"]],
    [["email", "email"], ["email"], ["email"]],
  ])("requested as %j contains %j, of which %j are required", (words, scope, needed) => {
    expect(parseRequestedScope(words)).toEqual({ ok: true, value: { scope, needed } });
  });

  test.each([[[]], [["?"]], [["email??"]], [["shoe_size"]], [["__proto__"]], [["toString"]], [["email", ""]], [["EMAIL"]]])(
    "with the names %j is refused",
    (words) => {
      expect(parseRequestedScope(words)).toMatchObject({ ok: false, code: "invalid_request" });
    },
  );

  test("has the groups of its keys", () => {
    fc.assert(
      fc.property(subset, (scope) => {
        const groups = groupsFromKeys(scope);
        expect(groups.flatMap((group) => filterKeysInGroup(scope, group))).toEqual(scope);
        for (const group of groups) expect(filterKeysInGroup(scope, group)).not.toEqual([]);
      }),
    );
  });

  test("returns a value or null for each key", () => {
    expect(getScopedValues({ email: { value: "pat@example.com", updatedAt: 1 } }, ["email", "phone"])).toEqual({
      email: "pat@example.com",
      phone: null,
    });
  });
});

describe("a value", () => {
  test("is stored trimmed, with the time it was set", () => {
    expect(change({}, [["first_name", "  Pat\t"]])).toEqual({
      ok: true,
      value: { fields: { first_name: { value: "Pat", updatedAt: 5 } }, changedKeys: ["first_name"] },
    });
  });

  test("keeps its time when it is unchanged after trimming", () => {
    const kept: ContactFields = { email: { value: "pat@example.com", updatedAt: 1 }, country: { value: "US", updatedAt: 1 } };
    const same = change(kept, [
      ["email", " pat@example.com "],
      ["country", "us"],
      ["phone", null],
      ["city", " "],
    ]);
    expect(same).toEqual({ ok: true, value: { fields: kept, changedKeys: [] } });
  });

  test("is cleared by null and by white space only", () => {
    const kept: ContactFields = { email: { value: "pat@example.com", updatedAt: 1 }, city: { value: "Testville", updatedAt: 1 } };
    const cleared = change(kept, [
      ["city", " "],
      ["email", null],
    ]);
    expect(cleared).toEqual({ ok: true, value: { fields: {}, changedKeys: ["email", "city"] } });
    expect(kept.email).toBeDefined();
  });

  test.each([
    ["email", "pat"],
    ["email", "pat@"],
    ["email", `${"a".repeat(250)}@example.com`],
    ["phone", "call me"],
    ["country", "USA"],
    ["country", "1"],
    ["first_name", "Pat\nBcc: a@example.com"],
    ["first_name", "Pat\u202eexe"],
    ["city", "x".repeat(201)],
  ] as const)("of %s is refused as %j", (key, value) => {
    expect(isRefused(key, value)).toBe(true);
  });

  test("is refused with the maximum length when it is too long", () => {
    for (const [key, value, longest] of [
      ["city", "x".repeat(201), 200],
      ["email", `${"a".repeat(250)}@example.com`, 254],
    ] as const)
      expect(change({}, [[key, value]])).toMatchObject({ detail: `${key}: must be at most ${longest} characters.` });
  });

  test("of a phone number uses the new country, the stored one, or the default", () => {
    const seen: string[] = [];
    const record = (_: string, country: string): string => {
      seen.push(country);
      return "+1";
    };
    const number = ["phone", "020 7946 0000"] as const;
    applyFieldChanges({}, new Map([number, ["country", "gb"]]), 1, record);
    applyFieldChanges({ country: { value: "CA", updatedAt: 1 } }, new Map([number]), 1, record);
    applyFieldChanges({}, new Map([number]), 1, record);
    expect(seen).toEqual(["GB", "CA", "US"]);
  });

  test("of a phone number that cannot be parsed is refused with a country code, and stored without one", () => {
    const changePhone = (value: string) => applyFieldChanges({}, new Map([["phone", value]]), 1, () => null);
    expect(changePhone("+999 123 4567")).toMatchObject({ ok: false, detail: "phone: must be a phone number." });
    expect(changePhone("999 123 4567")).toMatchObject({ ok: true, value: { changedKeys: ["phone"] } });
  });

  test("refuses the whole change when it is invalid", () => {
    expect(
      change({}, [
        ["city", "Testville"],
        ["email", "none"],
      ]),
    ).toMatchObject({ ok: false, code: "invalid_request" });
  });
});
