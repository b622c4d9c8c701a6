// Tests audit chains: they match the vectors byte for byte, and every change to a chain is detected and located.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashAuditEntry, serializeAuditEntry, createGenesisHead, createNextEntry, type HashedEntry } from "../../../core/audit/chain.ts";
import { hashAuditPayload } from "../../../core/audit/payload.ts";
import { toBase64, fromHex } from "../../../core/bytes.ts";
import { hashLeaf } from "../../../core/ledger/merkle.ts";
import { verifyEntries } from "../../support/audit-verification.ts";
import vectors from "../../vectors/ledger.json" with { type: "json" };

const { audit } = vectors;
const position = { chain: audit.chain, chainIndex: BigInt(audit.index) };
const genesis = createGenesisHead(position);

const parseEvent = (canonical: string) => {
  const { type, entity_type, entity_id, at, payload_hash } = JSON.parse(canonical);
  return { type, entity_type, entity_id, at, payload_hash };
};

/** Builds a chain of `length` entries. By default, it has the name and the genesis head of the chain in the vectors. */
const buildChain = (length: number, chain = audit.chain, start = genesis): HashedEntry[] => {
  const entries: HashedEntry[] = [];
  let head = start;
  for (let at = 0; at < length; at += 1) {
    const next = createNextEntry(chain, head, {
      type: "share.created",
      entity_type: "share",
      entity_id: `shr_${at}`,
      at: new Date(1_700_000_000_000 + at).toISOString(),
      payload_hash: hashAuditPayload("salt", { at: String(at) }),
    });
    head = next.head;
    entries.push({ ...next.entry, hash: head.hash });
  }
  return entries;
};

describe("chain vectors", () => {
  test("match the genesis, every canonical entry, hash and leaf", () => {
    expect(genesis).toEqual({ seq: 0n, hash: audit.genesis });
    let head = genesis;
    for (const vector of audit.entries) {
      expect(hashAuditPayload(vector.salt, vector.payload as Record<string, string>)).toBe(parseEvent(vector.canonical).payload_hash);
      const next = createNextEntry(audit.chain, head, parseEvent(vector.canonical));
      expect(serializeAuditEntry(next.entry)).toBe(vector.canonical);
      expect(next.head.hash).toBe(vector.hash);
      expect(toBase64(hashLeaf(fromHex(vector.hash) as Uint8Array))).toBe(vector.leaf_hash_b64);
      head = next.head;
    }
    const entries = audit.entries.map(({ canonical, hash }) => ({ ...JSON.parse(canonical), hash }) as HashedEntry);
    expect(verifyEntries(audit.chain, genesis, entries)).toEqual({ ok: true, head });
  });
});

describe("verifyEntries", () => {
  const entries = buildChain(12);

  test("verifies a whole chain and parts of it", () => {
    expect(verifyEntries(audit.chain, genesis, entries).ok).toBe(true);
    const before = { seq: 5n, hash: entries[4]?.hash ?? "" };
    expect(verifyEntries(audit.chain, before, entries.slice(5))).toEqual({ ok: true, head: { seq: 12n, hash: entries[11]?.hash } });
    expect(verifyEntries(audit.chain, genesis, [])).toEqual({ ok: true, head: genesis });
  });

  const members = ["at", "entity_id", "entity_type", "payload_hash", "type", "prev_hash", "hash"] as const;

  test("returns the first entry with a changed member", () => {
    fc.assert(
      fc.property(fc.nat(11), fc.constantFrom(...members), (at, member) => {
        const changed = entries.map((entry, index) => (index === at ? { ...entry, [member]: `${entry[member]}x` } : entry));
        expect(verifyEntries(audit.chain, genesis, changed)).toMatchObject({ ok: false, seq: BigInt(at + 1) });
      }),
    );
  });

  test("returns the position where entries were removed, added, repeated or swapped", () => {
    for (let at = 0; at < 11; at += 1) {
      const seq = BigInt(at + 1);
      const removed = entries.toSpliced(at, 1);
      expect(verifyEntries(audit.chain, genesis, removed)).toEqual({ ok: false, fault: "seq_gap", seq });
      const swapped = entries.with(at, entries[at + 1] as HashedEntry).with(at + 1, entries[at] as HashedEntry);
      expect(verifyEntries(audit.chain, genesis, swapped)).toEqual({ ok: false, fault: "seq_gap", seq });
      const repeated = entries.toSpliced(at, 0, entries[at] as HashedEntry);
      expect(verifyEntries(audit.chain, genesis, repeated)).toEqual({ ok: false, fault: "seq_gap", seq: seq + 1n });
    }
  });

  test("detects a removed entry when the following entries are renumbered", () => {
    const renumberedChain = entries.toSpliced(4, 1).map((entry, at) => {
      const renumbered = { ...entry, seq: String(at + 1) };
      return { ...renumbered, hash: hashAuditEntry(renumbered) };
    });
    expect(verifyEntries(audit.chain, genesis, renumberedChain)).toEqual({ ok: false, fault: "prev_mismatch", seq: 5n });
  });

  test("refuses a chain presented under another tag or at another index (C5)", () => {
    const bobsChain = "ffeeddccbbaa99887766554433221100";
    const bobsGenesis = createGenesisHead({ chain: bobsChain, chainIndex: 7n });
    const bobs = buildChain(3, bobsChain, bobsGenesis);
    expect(verifyEntries(bobsChain, bobsGenesis, bobs).ok).toBe(true);
    expect(verifyEntries(audit.chain, genesis, bobs)).toEqual({ ok: false, fault: "wrong_chain", seq: 1n });
    const relabeled = bobs.map((entry) => ({ ...entry, chain: audit.chain }));
    expect(verifyEntries(audit.chain, genesis, relabeled)).toEqual({ ok: false, fault: "prev_mismatch", seq: 1n });
    const sameTagElsewhere = createGenesisHead({ chain: bobsChain, chainIndex: 8n });
    expect(verifyEntries(bobsChain, sameTagElsewhere, bobs)).toEqual({ ok: false, fault: "prev_mismatch", seq: 1n });
  });

  test("accepts only one spelling of a number, and counts exactly beyond the range of a double", () => {
    const first = entries[0] as HashedEntry;
    for (const seq of ["01", "+1", "1.0", " 1", ""]) {
      expect(verifyEntries(audit.chain, genesis, [{ ...first, seq }])).toEqual({ ok: false, fault: "entry_malformed", seq: 1n });
    }
    const far = { seq: (1n << 53n) + 1n, hash: genesis.hash };
    const next = createNextEntry(audit.chain, far, parseEvent(audit.entries[0]?.canonical ?? ""));
    expect(next.entry.seq).toBe("9007199254740994");
  });
});
