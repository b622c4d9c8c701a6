// What leaves for the ledger, against its vectors.
import { describe, expect, test } from "vitest";
import { anchorStatement, entryHash, type AnchoredEvent } from "../../../core/ledger/statement.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

describe("anchor statements", () => {
  test.each(vectors.anchor)("$entry_hash is reproduced byte for byte", ({ statement, entry_hash }) => {
    const said = JSON.parse(statement) as Record<string, string>;
    const written = anchorStatement({
      event: said.event as AnchoredEvent,
      entityId: said.entity_id as string,
      fingerprint: said.fingerprint as string,
      originDomain: said.origin_domain as string,
      at: Date.parse(said.timestamp as string),
    });
    expect(written).toBe(statement);
    expect(entryHash(written)).toBe(entry_hash);
  });

  test("a statement holds six members, all of them text", () => {
    const written = JSON.parse(
      anchorStatement({ event: "share.revoked", entityId: "shr_1", fingerprint: "00", originDomain: "example.com", at: 0 }),
    ) as Record<string, unknown>;
    expect(Object.keys(written)).toEqual(["entity_id", "event", "fingerprint", "origin_domain", "schema", "timestamp"]);
    expect(Object.values(written).every((value) => typeof value === "string")).toBe(true);
    expect(written.timestamp).toBe("1970-01-01T00:00:00.000Z");
  });
});
