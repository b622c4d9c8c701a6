// Tests audit proofs against a dishonest operator who has the keys, so every signature in these proofs is valid.
import { describe, expect, test } from "vitest";
import { createGenesisHead, createNextEntry, type ChainHead } from "../../../core/audit/chain.ts";
import { hashHeadLeaf, serializeHeadLeaf, hashHeadsRecord, serializeHeadsRecord } from "../../../core/audit/heads.ts";
import type { AuditProof } from "../../../core/audit/proof.ts";
import { verifyAuditProof } from "../../support/audit-verification.ts";
import { toBase64, fromHex, toHex } from "../../../core/bytes.ts";
import { sha256 } from "../../../core/hash.ts";
import { formatCheckpoint } from "../../../core/ledger/checkpoint.ts";
import { hashLeaf } from "../../../core/ledger/merkle.ts";
import { signNote } from "../../../core/ledger/note.ts";
import { formatTlogProof } from "../../../core/ledger/tlog-proof.ts";
import { noteCrypto, openNoteSigner } from "../../../storage/note-keys.ts";
import { computeNaiveInclusion, computeNaiveRoot } from "../../support/naive-log.ts";
import { createSecret } from "../../support/note-keys.ts";

const origin = "svc.example/audit/0";
const signer = await openNoteSigner(await createSecret(origin, 33));
const trust = { origin, keys: [signer.key] };
const chain = "000102030405060708090a0b0c0d0e0f";
const position = { chain, chainIndex: 1n };
const neighbour = sha256("another chain's leaf");

const buildHeads = (length: number, note = ""): ChainHead[] => {
  const heads: ChainHead[] = [createGenesisHead(position)];
  for (let at = 1; at <= length; at += 1) {
    const event = {
      type: "share.created",
      entity_type: "share",
      entity_id: `shr_${note}${at}`,
      at: "2026-03-04T05:06:07.089Z",
      payload_hash: "00",
    };
    heads.push(createNextEntry(chain, heads[at - 1] as ChainHead, event).head);
  }
  return heads;
};
const getEntryHash = (head: ChainHead | undefined): Uint8Array => fromHex(head?.hash ?? "") as Uint8Array;

interface Lies {
  /** A false log size in the record of heads. */
  readonly logSize?: string;
  readonly recorded?: ChainHead;
  readonly headsSize?: string;
  readonly schema?: string;
}

/** Builds a proof for the third entry. The log contains the chain's three entries and then the record of heads. */
const buildProof = async (lies: Lies = {}, heads = buildHeads(3)): Promise<AuditProof> => {
  const recorded = lies.recorded ?? (heads[3] as ChainHead);
  const record = serializeHeadsRecord({
    at: "2026-03-04T05:15:00.000Z",
    heads_root: toHex(computeNaiveRoot([neighbour, hashHeadLeaf(chain, recorded)])),
    heads_size: lies.headsSize ?? "2",
    log_size: lies.logSize ?? "3",
    schema: (lies.schema ?? "svc-heads-v1") as "svc-heads-v1",
  });
  const entries = [getEntryHash(heads[1]), getEntryHash(heads[2]), getEntryHash(heads[3]), hashHeadsRecord(record)];
  const leaves = entries.map((entry) => hashLeaf(entry));
  const checkpoint = await signNote(formatCheckpoint({ origin, size: 4n, root: computeNaiveRoot(leaves) }), [signer]);
  const formatProof = (index: number): string =>
    formatTlogProof({ index: BigInt(index), hashes: computeNaiveInclusion(index, leaves), checkpoint });
  return {
    origin,
    checkpoint,
    head_tlog_proof: formatProof(2),
    heads: {
      record,
      record_tlog_proof: formatProof(3),
      leaf: serializeHeadLeaf(chain, recorded),
      path: [toBase64(neighbour)],
      size: lies.headsSize ?? "2",
    },
  };
};

const getVerdict = async (proof: AuditProof, heads = buildHeads(3)): Promise<string> => {
  const verdict = await verifyAuditProof(noteCrypto, trust, position, heads.at(-1) as ChainHead, (seq) => heads[Number(seq)]?.hash, proof);
  return verdict.ok ? `complete up to ${verdict.complete?.seq}` : verdict.fault;
};

describe("verifyAuditProof", () => {
  test("returns how far the chain is complete for a full proof", async () => {
    expect(await getVerdict(await buildProof())).toBe("complete up to 3");
    expect(await getVerdict(await buildProof({ recorded: buildHeads(3)[2] as ChainHead }))).toBe("complete up to 2");
  });

  test("proves only the newest entry when there is no heads record", async () => {
    const verdict = await verifyAuditProof(noteCrypto, trust, position, buildHeads(3)[3] as ChainHead, () => undefined, {
      ...(await buildProof()),
      heads: null,
    });
    expect(verdict).toMatchObject({ ok: true, complete: null });
  });

  test("refuses a record at a different position from the one it claims, so an old record cannot pass as the newest", async () => {
    expect(await getVerdict(await buildProof({ logSize: "2" }))).toBe("record_malformed");
    expect(await getVerdict(await buildProof({ logSize: "03" }))).toBe("record_malformed");
  });

  test("refuses a record with another schema or size", async () => {
    expect(await getVerdict(await buildProof({ schema: "svc-heads-v2" }))).toBe("record_malformed");
    expect(await getVerdict(await buildProof({ headsSize: "02" }))).toBe("record_malformed");
    expect(await getVerdict(await buildProof({ headsSize: "5" }))).toBe("heads_mismatch");
  });

  test("detects withheld entries (C6)", async () => {
    const four = buildHeads(4)[4] as ChainHead;
    expect(await getVerdict(await buildProof({ recorded: four }))).toBe("entries_missing");
  });

  test("detects a chain rewritten after it was recorded, even if the new chain is in the log", async () => {
    const rewritten = buildHeads(3, "rewritten ");
    const recorded = buildHeads(3)[3] as ChainHead;
    expect(await getVerdict(await buildProof({ recorded }, rewritten), rewritten)).toBe("leaf_mismatch");
    expect(await getVerdict(await buildProof({}, rewritten), rewritten)).toBe("complete up to 3");
  });
});
