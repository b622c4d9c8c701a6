// Tests PKCE: the vector in RFC 7636, appendix B, and the format of verifiers and challenges.
import { describe, expect, test } from "vitest";
import { computeCodeChallenge, isCodeChallenge, isCodeVerifier } from "../../../core/shares/pkce.ts";

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

describe("PKCE", () => {
  test("computes the challenge of RFC 7636, appendix B", () => {
    expect(computeCodeChallenge(verifier)).toBe(challenge);
  });

  test.each([
    ["a".repeat(43), true],
    ["a".repeat(128), true],
    ["A0-._~".repeat(8), true],
    ["a".repeat(42), false],
    ["a".repeat(129), false],
    [`${"a".repeat(43)}+`, false],
    [`${"a".repeat(43)}=`, false],
    [`${"a".repeat(43)}\n`, false],
    [`${"a".repeat(43)}é`, false],
  ])("accepts %j as a verifier: %s", (text, isOne) => {
    expect(isCodeVerifier(text)).toBe(isOne);
  });

  test.each([
    [challenge, true],
    [`${challenge}=`, false],
    [challenge.slice(1), false],
    [`${challenge}A`, false],
    // The last character of a valid challenge has two unused bits, which must be zero.
    [`${challenge.slice(0, -1)}N`, false],
    [challenge.replace("-", "+"), false],
  ])("accepts %j as a challenge: %s", (text, isOne) => {
    expect(isCodeChallenge(text)).toBe(isOne);
  });
});
