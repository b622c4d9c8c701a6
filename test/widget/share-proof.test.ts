// Tests the PKCE challenge in share mode (RFC 7636). These tests need no browser.
import { describe, expect, test } from "vitest";
import { computeDigest, createProof } from "../../widget/share/pkce.ts";

describe("the PKCE challenge", () => {
  test("matches RFC 7636, appendix B", async () => {
    expect(await computeDigest("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  });

  test("has a verifier of 32 random bytes, like the state", async () => {
    const proofs = await Promise.all(Array.from({ length: 200 }, createProof));
    for (const { state, verifier, challenge } of proofs) {
      for (const text of [state, verifier, challenge]) {
        expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect(Buffer.from(text, "base64url")).toHaveLength(32);
        expect(Buffer.from(text, "base64url").toString("base64url")).toBe(text);
      }
      expect(challenge).toBe(await computeDigest(verifier));
    }
    expect(new Set(proofs.flatMap(({ state, verifier }) => [state, verifier])).size).toBe(400);
  });
});
