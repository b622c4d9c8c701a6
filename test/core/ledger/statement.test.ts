// Tests ledger statements against their vectors.
import { describe, expect, test } from "vitest";
import { toHex, encodeUtf8 } from "../../../core/bytes.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { formatAnchorStatement, hashStatement, computeEntryKey, type AnchoredEventType } from "../../../core/ledger/statement.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

describe("anchor statements", () => {
  test.each(vectors.anchor)("$entry_hash is reproduced byte for byte", ({ statement, entry_hash }) => {
    const parsed = JSON.parse(statement) as Record<string, string>;
    const written = formatAnchorStatement({
      event: parsed.event as AnchoredEventType,
      entityId: parsed.entity_id as string,
      fingerprint: parsed.fingerprint as string,
      originDomain: parsed.origin_domain as string,
      at: Date.parse(parsed.timestamp as string),
    });
    expect(written).toBe(statement);
    expect(hashStatement(written)).toBe(entry_hash);
  });

  test("have exactly six text members", () => {
    const written = JSON.parse(
      formatAnchorStatement({ event: "share.revoked", entityId: "shr_1", fingerprint: "00", originDomain: "example.com", at: 0 }),
    ) as Record<string, unknown>;
    expect(Object.keys(written)).toEqual(["entity_id", "event", "fingerprint", "origin_domain", "schema", "timestamp"]);
    expect(Object.values(written).every((value) => typeof value === "string")).toBe(true);
    expect(written.timestamp).toBe("1970-01-01T00:00:00.000Z");
  });

  test("have distinct entry keys in the order of their timestamps", () => {
    const buildStatementAt = (instant: number, id = "cc_1"): Uint8Array =>
      encodeUtf8(
        formatAnchorStatement({ event: "certificate.issued", entityId: id, fingerprint: "00", originDomain: "example.com", at: instant }),
      );
    const computeKey = (entry: Uint8Array): string => toHex(computeEntryKey(entry));
    const instants = [0, 1, 255, 256, 1_772_600_767_089, 1_772_600_767_090, 4_102_444_800_000];
    const keys = instants.map((instant) => computeKey(buildStatementAt(instant)));
    expect([...keys].sort()).toEqual(keys);
    expect(computeKey(buildStatementAt(5))).toBe(computeKey(buildStatementAt(5)));
    expect(computeKey(buildStatementAt(5, "cc_2"))).not.toBe(computeKey(buildStatementAt(5)));
    for (const other of ["", "x", '{"timestamp":"9999-99-99T99:99:99.999Z"}', '{"timestamp":"1969-12-31T23:59:59.999Z"}']) {
      expect(computeKey(encodeUtf8(other))).toBe(`${"0".repeat(16)}${sha256Hex(other).slice(0, 32)}`);
    }
    const torn = new Uint8Array([0xff, ...buildStatementAt(7)]); // invalid UTF-8 that ends like a statement
    expect(computeKey(torn)).toMatch(/^0{15}7/);
  });
});
