// Tests a share's fingerprint against vectors that test/interop/fingerprints.py recomputes in Python.
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../../../core/hash.ts";
import { canonicalizeSharePreimage, computeShareFingerprint, type ShareFingerprintInput } from "../../../core/shares/fingerprint.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

type Vector = (typeof vectors.share)[number];
const createFingerprintInput = ({ input }: Vector): ShareFingerprintInput => ({
  business: input.business,
  disclosureHash: input.disclosure_hash,
  expiresAt: Date.parse(input.expires_at),
  originDomain: input.origin_domain,
  purpose: input.purpose,
  scope: input.scope,
  id: input.share_id,
  subjectHash: input.subject_hash,
  supersedes: ("supersedes" in input ? (input.supersedes as string) : null) ?? null,
  createdAt: Date.parse(input.timestamp),
});
const first = createFingerprintInput(vectors.share[0] as Vector);
const computeFingerprint = (share: ShareFingerprintInput): string => computeShareFingerprint(canonicalizeSharePreimage(share));

describe("the fingerprint of a share", () => {
  test.each(vectors.share)("matches the vector $name", (vector) => {
    expect(canonicalizeSharePreimage(createFingerprintInput(vector))).toBe(vector.canonical);
    expect(computeFingerprint(createFingerprintInput(vector))).toBe(vector.fingerprint);
    expect(sha256Hex(vector.disclosure_text)).toBe(vector.input.disclosure_hash);
  });

  test("does not depend on the order of the scope", () => {
    expect(computeFingerprint({ ...first, scope: first.scope.toReversed() })).toBe(computeFingerprint(first));
  });

  test.each([
    ["the business's id", { business: { ...first.business, id: "biz_other" } }],
    ["the business's name", { business: { ...first.business, name: "Acme Solar" } }],
    ["the disclosure", { disclosureHash: sha256Hex("") }],
    ["the end", { expiresAt: first.expiresAt + 1 }],
    ["the host", { originDomain: "acme-solar.example" }],
    ["the purpose", { purpose: `${first.purpose}.` }],
    ["the scope", { scope: first.scope.slice(1) }],
    ["the share", { id: `${first.id}0` }],
    ["the subject", { subjectHash: sha256Hex("") }],
    ["the share it replaces", { supersedes: first.id }],
    ["the time", { createdAt: first.createdAt + 1 }],
  ] as const)("binds %s", (_, change) => {
    expect(computeFingerprint({ ...first, ...change })).not.toBe(computeFingerprint(first));
  });
});
