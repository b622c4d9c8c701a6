// Tests two details that tests with complete packs do not cover: salts must have 128 bits, and a cached signature check is reused only for
// the same key, text and signature.
import { describe, expect, test } from "vitest";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { computeFieldCommitment } from "../../../core/certificates/subject.ts";
import { memoizeNoteCrypto } from "../../../core/ledger/note.ts";
import { webCrypto } from "../../../verifier/crypto.ts";
import { checkDisclosures } from "../../../verifier/record.ts";

describe("a salt", () => {
  const getOutcome = (salt: string): string => {
    const commitments = toCanonicalJson({ email: computeFieldCommitment(salt, "email", "pat@example.com") });
    return checkDisclosures(toCanonicalJson([[salt, "email", "pat@example.com"]]), commitments).outcome;
  };
  test("must have 128 bits in canonical form, even when the commitment matches", () => {
    expect(getOutcome("M0wf8M-0jao61I8anqJ2AA")).toBe("pass");
    for (const salt of ["", "AA", "M0wf8M-0jao61I8anqJ2AB", "M0wf8M-0jao61I8anqJ2AA==", "M0wf8M+0jao61I8anqJ2AA"])
      expect(getOutcome(salt)).toBe("fail");
  });
});

describe("cached signature checks", () => {
  test("are reused only for the same key, text and signature", async () => {
    let requestCount = 0;
    const crypto = memoizeNoteCrypto({
      ...webCrypto,
      verifyEd25519: async (publicKey, message, signature) => {
        requestCount += 1;
        return publicKey[0] === 1 && message[0] === 2 && signature[0] === 3;
      },
    });
    const [one, two, three] = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)] as const;
    expect(await crypto.verifyEd25519(one, two, three)).toBe(true);
    expect(await crypto.verifyEd25519(one, two, three)).toBe(true);
    expect(requestCount).toBe(1);
    expect(await crypto.verifyEd25519(three, two, three)).toBe(false);
    expect(await crypto.verifyEd25519(one, one, three)).toBe(false);
    expect(await crypto.verifyEd25519(one, two, two)).toBe(false);
    expect(requestCount).toBe(4);
  });
});
