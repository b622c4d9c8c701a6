// Tests fingerprints against the published vectors, and which changes to the input change a fingerprint.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalizePreimage, computeFingerprint, buildPreimage, type Preimage } from "../../../core/certificates/fingerprint.ts";
import { sha256Hex } from "../../../core/hash.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

const cases = vectors.fingerprint as readonly {
  readonly name: string;
  readonly disclosure_text: string;
  readonly input: Preimage;
  readonly canonical: string;
  readonly fingerprint: string;
}[];

/** Returns a vector's input for buildPreimage. With `reversed`, the lists of recipients are in reverse order. */
const buildPreimageInput = (input: Preimage, reversed: boolean): Parameters<typeof buildPreimage>[0] => {
  const orderNames = (names: readonly string[]): string[] => (reversed ? [...names].reverse() : [...names]);
  return {
    timestamp: input.timestamp,
    subjectHash: input.subject_hash,
    purpose: input.purpose,
    originDomain: input.origin_domain,
    recipients: {
      entities: orderNames(input.entities),
      ...(input.entities_accepted !== undefined && {
        answered: { accepted: orderNames(input.entities_accepted), rejected: orderNames(input.entities_rejected ?? []) },
      }),
    },
    disclosureHash: input.disclosure_hash,
    certId: input.cert_id,
    business: { name: input.business.name, id: input.business.id },
  };
};

const computeInputFingerprint = (input: Preimage): string => computeFingerprint(canonicalizePreimage(input));

describe("fingerprint vectors", () => {
  test("contain six different fingerprints", () => {
    expect(new Set(cases.map(({ fingerprint }) => fingerprint)).size).toBe(6);
  });

  test.each(cases)("reproduce $name byte for byte (F1)", ({ input, canonical, fingerprint, disclosure_text }) => {
    expect(canonicalizePreimage(input)).toBe(canonical);
    expect(computeInputFingerprint(input)).toBe(fingerprint);
    expect(sha256Hex(canonical)).toBe(fingerprint);
    expect(sha256Hex(disclosure_text)).toBe(input.disclosure_hash);
  });

  test.each(cases)("reproduce $name in any input order (F2)", ({ input, canonical }) => {
    expect(canonicalizePreimage(buildPreimage(buildPreimageInput(input, false)))).toBe(canonical);
    expect(canonicalizePreimage(buildPreimage(buildPreimageInput(input, true)))).toBe(canonical);
  });
});

describe("a fingerprint", () => {
  const [base] = cases as [(typeof cases)[number]];
  const fingerprintAnswers = (accepted: readonly string[], rejected: readonly string[]): string =>
    computeInputFingerprint({ ...base.input, entities_accepted: accepted, entities_rejected: rejected });

  test("differs between never asked, none answered and none declined (F3)", () => {
    const all = base.input.entities;
    expect(
      new Set([computeInputFingerprint(base.input), fingerprintAnswers([], []), fingerprintAnswers(all, []), fingerprintAnswers([], all)])
        .size,
    ).toBe(4);
  });

  test("changes when any one character of any bound value changes (F2)", () => {
    const paths: ((input: Preimage, change: (text: string) => string) => Preimage)[] = [
      (input, change) => ({ ...input, business: { ...input.business, id: change(input.business.id) } }),
      (input, change) => ({ ...input, business: { ...input.business, name: change(input.business.name) } }),
      (input, change) => ({ ...input, cert_id: change(input.cert_id) }),
      (input, change) => ({ ...input, disclosure_hash: change(input.disclosure_hash) }),
      (input, change) => ({ ...input, entities: [change(input.entities[0] as string), ...input.entities.slice(1)] }),
      (input, change) => ({ ...input, entities_accepted: [change((input.entities_accepted as string[])[0] as string)] }),
      (input, change) => ({ ...input, entities_rejected: [change((input.entities_rejected as string[])[0] as string)] }),
      (input, change) => ({ ...input, origin_domain: change(input.origin_domain) }),
      (input, change) => ({ ...input, purpose: change(input.purpose) }),
      (input, change) => ({ ...input, subject_hash: change(input.subject_hash) }),
      (input, change) => ({ ...input, timestamp: change(input.timestamp) }),
    ];
    const bound = cases[1] as (typeof cases)[number];
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.nat(), fc.integer({ min: 1, max: 0x7e }), (path, at, mask) => {
        const changed = path(bound.input, (text) => {
          const index = at % text.length;
          return text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ mask) + text.slice(index + 1);
        });
        expect(computeInputFingerprint(changed)).not.toBe(bound.fingerprint);
      }),
      { numRuns: 2_000 },
    );
  });

  test("differs for two Unicode forms of a name, because sealed text is never normalized", () => {
    const fingerprintName = (name: string): string => computeInputFingerprint({ ...base.input, entities: [name] });
    expect(fingerprintName("Caf\u00e9")).not.toBe(fingerprintName("Cafe\u0301"));
  });

  test("throws for an undefined list instead of treating it as absent (F5)", () => {
    const broken = { ...base.input, entities_accepted: [], entities_rejected: undefined } as unknown as Preimage;
    expect(() => computeInputFingerprint(broken)).toThrow(TypeError);
  });
});
