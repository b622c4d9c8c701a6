// Tests a certificate's subject: which fields are accepted, and the salted commitments against their vectors.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fromHex } from "../../../core/bytes.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import {
  computeFieldCommitment,
  maskSubject,
  computeSubjectCommitments,
  computeSubjectHash,
  deriveSubjectSalts,
} from "../../../core/certificates/subject.ts";
import { validateLine } from "../../../core/text.ts";
import { parseSubjectFields } from "../../../core/certificates/submission.ts";
import { sha256Hex } from "../../../core/hash.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

const decodeSalt = (hex: string): Uint8Array => fromHex(hex) as Uint8Array;
const getFault = (input: object): string => {
  const read = parseSubjectFields(input);
  return read.ok ? "accepted" : `${read.code} ${read.detail}`;
};

describe("subject commitments", () => {
  test.each(vectors.subject)("reproduce $subject_hash byte for byte", (vector) => {
    const fields = new Map(Object.entries(vector.fields) as [string, string][]);
    expect(deriveSubjectSalts(fields, decodeSalt(vector.salt))).toEqual(vector.salts);
    const commitments = computeSubjectCommitments(fields, decodeSalt(vector.salt));
    expect(commitments).toEqual(vector.commitments);
    expect(toCanonicalJson(commitments)).toBe(vector.canonical);
    expect(computeSubjectHash(commitments)).toBe(vector.subject_hash);
  });

  test("prove one field with only its own salt", () => {
    const [vector] = vectors.subject as [(typeof vectors.subject)[0]];
    const salts = vector.salts as Record<string, string>;
    expect(computeFieldCommitment(salts.email as string, "email", "pat@example.com")).toBe(
      (vector.commitments as Record<string, string>).email,
    );
    expect(computeFieldCommitment(salts.phone as string, "email", "pat@example.com")).not.toBe(
      (vector.commitments as Record<string, string>).email,
    );
  });

  test("share no salt, commitment or hash between two root salts for the same person", () => {
    const fields = new Map([
      ["email", "pat@example.com"],
      ["phone", "+15555550123"],
    ]);
    const listDerivedValues = (hex: string): string[] => {
      const commitments = computeSubjectCommitments(fields, decodeSalt(hex));
      return [
        ...Object.values(deriveSubjectSalts(fields, decodeSalt(hex))),
        ...Object.values(commitments),
        computeSubjectHash(commitments),
      ];
    };
    const all = [...listDerivedValues("00".repeat(32)), ...listDerivedValues(`${"00".repeat(31)}01`)];
    expect(new Set(all).size).toBe(all.length);
  });

  test("do not depend on the order of the fields", () => {
    const pairs: [string, string][] = [
      ["email", "pat@example.com"],
      ["phone", "1"],
      ["zip", ""],
    ];
    const hashOf = (entries: readonly [string, string][]): string =>
      computeSubjectHash(computeSubjectCommitments(new Map(entries), decodeSalt("07".repeat(32))));
    expect(hashOf([...pairs].reverse())).toBe(hashOf(pairs));
  });

  // `npm run stress` tries a million guesses.
  test("resist a dictionary of guesses, even with the salt of another field (F8)", { timeout: 60_000 }, () => {
    const guesses = Number(process.env.GUESSES ?? "20000");
    const phone = "+12025550123"; // somewhere in the middle of the guessed range
    const fields = new Map([
      ["email", "pat@example.com"],
      ["phone", phone],
    ]);
    const root = decodeSalt("5c".repeat(32));
    const commitments = computeSubjectCommitments(fields, root);
    const published = new Set([...Object.values(commitments), computeSubjectHash(commitments)]);
    const disclosed = deriveSubjectSalts(fields, root).email as string;
    let tried = 0;
    for (let number = 0; number < guesses; number += 1) {
      const guess = `+1202${5_550_123 - Math.floor(guesses / 2) + number}`;
      const ways = [guess, `["${disclosed}","phone","${guess}"]`];
      for (const way of ways) if (published.has(sha256Hex(way))) throw new Error("a guess was confirmed");
      if (guess === phone) tried += 1;
    }
    expect(tried).toBe(1);
    // With the phone field's own salt, the guess matches.
    expect(published.has(sha256Hex(`["${deriveSubjectSalts(fields, root).phone}","phone","${phone}"]`))).toBe(true);
  });

  test("never equal the plain hash of a value", () => {
    const commitments = Object.values(computeSubjectCommitments(new Map([["email", "pat@example.com"]]), decodeSalt("00".repeat(32))));
    expect(commitments).not.toContain(sha256Hex("pat@example.com"));
  });
});

describe("parseSubjectFields", () => {
  const createFields = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, "x"]));

  test.each<readonly [string, object, string]>([
    ["no fields", {}, "must contain 1 to 20 entries"],
    ["21 fields", createFields(21), "must contain 1 to 20 entries"],
    ["only empty values", { email: "", first_name: "  " }, "at least one value must not be empty"],
    ["a number", { zip: 94000 }, "each value must be a string"],
    ["only null", { zip: null }, "at least one value must not be empty"],
    ["a list", { zip: ["94000"] }, "each value must be a string"],
    ["an object with toString", { zip: { toString: () => "94000" } }, "each value must be a string"],
    ["501 characters", { message: "x".repeat(501) }, "at most 500"],
    ["an upper-case key", { Email: "pat@example.com" }, "each key must be 1 to 40 lowercase letters"],
    ["a key of 41 characters", { [`a${"b".repeat(40)}`]: "x" }, "each key must be 1 to 40 lowercase letters"],
    ["a key that starts with a digit", { "1st": "x" }, "each key must be 1 to 40 lowercase letters"],
    ["a key that starts with an underscore", { _id: "x" }, "each key must be 1 to 40 lowercase letters"],
    ["an empty key", { "": "x" }, "each key must be 1 to 40 lowercase letters"],
    ["a key with a dash", { "first-name": "x" }, "each key must be 1 to 40 lowercase letters"],
    ["a key with a newline at its end", { "email\n": "x" }, "each key must be 1 to 40 lowercase letters"],
    ["__proto__", JSON.parse('{"__proto__":"x"}'), "each key must be 1 to 40 lowercase letters"],
    ["constructor", { constructor: "x" }, "each key must be 1 to 40 lowercase letters"],
    ["prototype", { prototype: "x" }, "each key must be 1 to 40 lowercase letters"],
  ])("refuses %s", (_name, input, rule) => {
    expect(getFault(input)).toContain("invalid_request");
    expect(getFault(input)).toContain(rule);
  });

  test.each<readonly [string, object, Record<string, string>]>([
    ["20 fields", createFields(20), createFields(20)],
    ["500 characters", { message: "x".repeat(500) }, { message: "x".repeat(500) }],
    ["500 characters between spaces", { message: ` ${"x".repeat(500)} ` }, { message: "x".repeat(500) }],
    ["an empty value next to another", { email: "", phone: "1" }, { email: "", phone: "1" }],
    ["a key of 40 characters", { [`a${"b".repeat(39)}`]: "x" }, { [`a${"b".repeat(39)}`]: "x" }],
    ["an unknown key", { favourite_tree_2: "oak" }, { favourite_tree_2: "oak" }],
    ["a value that is not normalized", { first_name: "Rene\u0301" }, { first_name: "Rene\u0301" }],
    ["a phone number that does not parse", { phone: "call my mother" }, { phone: "call my mother" }],
    ["a country in either case", { country: "us", zip: "1" }, { country: "us", zip: "1" }],
    ["a date", { date_of_birth: "1980-02-29" }, { date_of_birth: "1980-02-29" }],
    ["a date in American format", { date_of_birth: "02/29/1980" }, { date_of_birth: "02/29/1980" }],
    ["a date in German format", { date_of_birth: "29.2.1980" }, { date_of_birth: "29.2.1980" }],
    ["an empty country next to another value", { country: "", phone: "1" }, { country: "", phone: "1" }],
    ["a value like a key", { message: "__proto__" }, { message: "__proto__" }],
    ["null next to another value", { phone: null, zip: "1" }, { zip: "1" }],
    ["an invalid email address", { email: "pat" }, { email: "pat" }],
    ["two email addresses", { email: "a@example.com,b@example.com" }, { email: "a@example.com,b@example.com" }],
    ["two letters that are not a country", { country: "XX" }, { country: "XX" }],
  ])("accepts %s as typed", (_name, input, stored) => {
    const read = parseSubjectFields(input);
    expect(read.ok && [Object.fromEntries(read.value.fields), read.value.isReplaced]).toEqual([stored, false]);
  });

  test.each<readonly [string, string, string]>([
    ["a line break", "Pat\nBcc: x", "Pat\ufffdBcc: x"],
    ["a vertical tab", "Pat\vLee", "Pat\ufffdLee"],
    ["a null character", "Pat\0Lee", "Pat\ufffdLee"],
    ["a C1 control", "Pat\u0096Lee", "Pat\ufffdLee"],
    ["a line separator", "Pat\u2028x", "Pat\ufffdx"],
    ["a direction override", "Pat\u202eLee", "Pat\ufffdLee"],
    ["a zero-width space", "Pat\u200bLee", "Pat\ufffdLee"],
    ["a byte order mark", "\ufeffPat", "\ufffdPat"],
    ["half an emoji", "Pat \ud83d", "Pat \ufffd"],
    ["the other half of an emoji", "\ude00 Pat", "\ufffd Pat"],
    ["a noncharacter", "Pat\uffff", "Pat\ufffd"],
    ["a noncharacter outside the basic plane", "Pat\u{1fffe}Lee", "Pat\ufffdLee"],
    ["a joiner at the end", "Pat\u200d", "Pat\ufffd"],
    ["a joiner at the start", "\u200cPat", "\ufffdPat"],
    ["two joiners in a row", "Pa\u200d\u200dt", "Pa\u200d\ufffdt"],
    ["nothing visible", "\u2800\u0301", "\ufffd\ufffd"],
  ])("replaces %s with U+FFFD", (_name, typed, stored) => {
    const read = parseSubjectFields({ first_name: typed });
    expect(read.ok && [read.value.fields.get("first_name"), read.value.isReplaced]).toEqual([stored, true]);
    expect(validateLine(stored)).toBeNull();
  });

  test("leaves characters that real names need", () => {
    for (const name of [
      "\u0646\u0627\u0645\u0647\u200c\u0647\u0627",
      "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
      "Ren\u0065\u0301",
      "\u2764\ufe0f",
      "\ufffd",
    ]) {
      const read = parseSubjectFields({ first_name: name });
      expect(read.ok && [read.value.fields.get("first_name"), read.value.isReplaced]).toEqual([name, false]);
    }
  });

  test("returns a Map of validated text or a refusal for any input, and changes no prototype", () => {
    const before = JSON.stringify(Reflect.ownKeys(Object.prototype).map(String));
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "email")), fc.anything()),
        (input) => {
          const read = parseSubjectFields(input);
          if (!read.ok) return;
          for (const [key, value] of read.value.fields) {
            expect(validateLine(value)).toBeNull();
            expect(key).toMatch(/^[a-z][a-z0-9_]{0,39}$/);
            expect(typeof value).toBe("string");
          }
        },
      ),
      { numRuns: 1_000 },
    );
    expect(JSON.stringify(Reflect.ownKeys(Object.prototype).map(String))).toBe(before);
  });

  test("masks to the same keys and none of the values", () => {
    expect(
      maskSubject(
        new Map([
          ["email", "pat@example.com"],
          ["message", "hello"],
          ["zip", ""],
        ]),
      ),
    ).toEqual({
      email: "p***@e***.com",
      message: "***",
      zip: "",
    });
  });
});
