// Tests GET /v1/business/portal/audit from the perspective of a reader who does not trust the service. Verifies the whole response with
// only core and the published keys.
import { firstShard } from "../../core/ids.ts";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { createGenesisHead, type ChainHead, type HashedEntry } from "../../core/audit/chain.ts";
import type { AuditProof } from "../../core/audit/proof.ts";
import { verifyAuditProof, verifyEntries } from "../support/audit-verification.ts";
import { toCanonicalJson, type Json } from "../../core/canonical-json.ts";
import { sha256Hex } from "../../core/hash.ts";
import { parseVkey, type VerifierKey } from "../../core/ledger/note.ts";
import { minuteMs } from "../../core/time.ts";
import { noteCrypto } from "../../storage/note-keys.ts";
import { checkpointAuditLogs } from "../../workers/background/audit-checkpoints.ts";
import { submitAnchors } from "../../workers/background/anchoring.ts";
import { requestAuditDrains } from "../../workers/background/audit-drain-requests.ts";
import { deletePassed } from "../../workers/background/change-log-cleanup.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { signIn } from "../support/people.ts";
import { call, getWithKey, issueCertificate, buildSubmission, world, type TestResponse } from "../support/world.ts";

const platform = await getPlatform(env);
const path = "/v1/business/portal/audit";

interface ShownTrail {
  chain: string;
  chain_index: number;
  algorithm: string;
  entries: (Omit<HashedEntry, "seq" | "chain"> & {
    seq: number;
    payload: Json;
    payload_salt: string | null;
    erased?: true;
    log_index: string;
  })[];
  head: { seq: number; hash: string };
  next_before_seq: number | null;
  pending: object[];
  proof: AuditProof & { anchor: { status: string; statement: string } | null };
}

const readTrail = async (email: string, query = ""): Promise<ShownTrail> => {
  const response: TestResponse = await call(`${path}${query}`, { headers: await signIn(email) });
  if (response.status !== 200) throw new Error(response.text);
  return response.body.data;
};

const fetchAuditKeys = async (origin: string): Promise<VerifierKey[]> => {
  const { logs } = (await getWithKey("/.well-known/svc-trust.json")).body as { logs: { origin: string; vkey: string; role: string }[] };
  return logs
    .filter((log) => log.role === "audit" && log.origin === origin)
    .map(({ vkey }) => parseVkey(vkey))
    .filter((key) => key !== null);
};

/** Verifies the whole chain. Returns the first fault, or "ok". */
const verifyTrail = async ({ chain, chain_index, entries, head, proof }: ShownTrail): Promise<string> => {
  const oldestFirst = entries.toReversed().map((entry) => ({ ...entry, seq: String(entry.seq), chain }));
  const place = { chain, chainIndex: BigInt(chain_index) };
  const verified = verifyEntries(chain, createGenesisHead(place), oldestFirst);
  if (!verified.ok) return `${verified.fault} at ${verified.seq}`;
  for (const { seq, payload, payload_salt, payload_hash } of entries)
    if (payload !== null && sha256Hex(toCanonicalJson([payload_salt as Json, payload])) !== payload_hash) return `payload of ${seq}`;
  const statedHead: ChainHead = { seq: BigInt(head.seq), hash: head.hash };
  if (verified.head.seq !== statedHead.seq || verified.head.hash !== statedHead.hash) return "head is not the newest entry";
  const hashOf = (seq: bigint): string | undefined => oldestFirst[Number(seq) - 1]?.hash;
  const verdict = await verifyAuditProof(
    noteCrypto,
    { origin: proof.origin, keys: await fetchAuditKeys(proof.origin) },
    place,
    statedHead,
    hashOf,
    proof,
  );
  return verdict.ok ? "ok" : verdict.fault;
};

let fullTrail: ShownTrail;
beforeAll(async () => {
  for (let n = 0; n < 3; n += 1) await issueCertificate();
  const { cert_id } = await issueCertificate();
  await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.live);
  await platform.auditLogStub(firstShard).drainNow();
  await checkpointAuditLogs(platform, Math.ceil(Date.now() / (15 * minuteMs)) * 15 * minuteMs);
  await submitAnchors(platform);
  fullTrail = await readTrail(world.memberEmail, "?limit=200");
});

describe("GET /v1/business/portal/audit", () => {
  test("verifies with the published keys alone, from the first entry to the newest and against the log's own record", async () => {
    expect(await verifyTrail(fullTrail)).toBe("ok");
    expect(fullTrail).toMatchObject({ algorithm: "svc-audit-v1", next_before_seq: null, pending: [] });
    expect(fullTrail.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: fullTrail.head.seq }, (_, at) => fullTrail.head.seq - at));
    expect(fullTrail.entries.map(({ type }) => type)).toEqual(expect.arrayContaining(["certificate.issued", "certificate.subject_read"]));
    expect(fullTrail.proof.heads).not.toBeNull();
    expect(fullTrail.proof.anchor).toMatchObject({ status: "anchored" });
    expect(JSON.parse(fullTrail.proof.anchor?.statement ?? "{}")).toMatchObject({
      schema: "svc-checkpoint-v1",
      origin: fullTrail.proof.origin,
    });
  });

  test("includes an entry committed a moment ago", async () => {
    const { cert_id } = await issueCertificate();
    const [newest] = (await readTrail(world.memberEmail)).entries;
    expect(newest).toMatchObject({ type: "certificate.issued", entity_id: cert_id });
  });

  test("returns pages that join without a gap", async () => {
    const first = await readTrail(world.memberEmail, "?limit=2");
    const second = await readTrail(world.memberEmail, `?limit=2&before_seq=${first.next_before_seq}`);
    expect(first.entries).toHaveLength(2);
    expect(first.next_before_seq).toBe(first.entries[1]?.seq);
    expect(second.entries[0]?.seq).toBe((first.entries[1]?.seq ?? 0) - 1);
    expect(first.entries[1]?.prev_hash).toBe(second.entries[0]?.hash);
  });

  test("reveals which entry was changed, and that an entry is missing (T6, C6)", async () => {
    const buildChangedTrail = (at: number, change: object): ShownTrail => ({
      ...fullTrail,
      entries: fullTrail.entries.map((entry) => (entry.seq === at ? { ...entry, ...change } : entry)),
    });
    expect(await verifyTrail(buildChangedTrail(2, { type: "share.created" }))).toBe("hash_mismatch at 2");
    expect(await verifyTrail(buildChangedTrail(3, { prev_hash: "00".repeat(32) }))).toBe("prev_mismatch at 3");
    expect(await verifyTrail(buildChangedTrail(1, { payload: { fingerprint: "another" } }))).toBe("payload of 1");
    expect(await verifyTrail({ ...fullTrail, entries: fullTrail.entries.filter(({ seq }) => seq !== 2) })).toBe("seq_gap at 2");
    const [, ...older] = fullTrail.entries;
    const truncated = { ...fullTrail, entries: older, head: { seq: older[0]?.seq ?? 0, hash: older[0]?.hash ?? "" } };
    expect(await verifyTrail(truncated)).not.toBe("ok");
  });

  test("shows only the caller's own chain, and another business's chain does not verify in its place (C5)", async () => {
    await call("/v1/consent", {
      method: "POST",
      headers: { "content-type": "application/json", origin: "https://other.example" },
      body: JSON.stringify({ ...buildSubmission(world.other), page_url: "https://other.example/" }),
    });
    const others = await readTrail(world.otherOwnerEmail);
    expect(others.chain).not.toBe(fullTrail.chain);
    expect(await verifyTrail(others)).toBe("ok");
    expect(await verifyTrail({ ...others, chain: fullTrail.chain })).not.toBe("ok");
    expect(await verifyTrail({ ...others, chain_index: fullTrail.chain_index })).not.toBe("ok");
    const ownIds = new Set(fullTrail.entries.map(({ entity_id }) => entity_id));
    expect(others.entries.filter(({ entity_id }) => ownIds.has(entity_id))).toEqual([]);
  });

  test("proves a read and its payload even after the database has deleted both", async () => {
    const { cert_id } = await issueCertificate();
    await getWithKey(`/v1/certs/${cert_id}`, world.acme.keys.live);
    await issueCertificate(); // adds a newer change, because the newest one is never deleted
    const isRead = ({ type, entity_id }: { readonly type: string; readonly entity_id: string }) =>
      type === "certificate.subject_read" && entity_id === cert_id;
    const recorded = (await readTrail(world.memberEmail)).entries.find(isRead);
    await requestAuditDrains(platform); // moves the positions of the other shards' audit logs past the change
    await submitAnchors(platform); // moves the ledger's position past the change
    await deletePassed(platform);
    for (const table of ["changes", "audit_entries"]) {
      const kept = env.DB.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE type = 'certificate.subject_read' AND entity_id = ?`);
      expect(await kept.bind(cert_id).first("n")).toBe(0);
    }
    const trail = await readTrail(world.memberEmail, "?limit=200");
    expect(await verifyTrail(trail)).toBe("ok");
    expect(trail.entries.find(isRead)).toEqual(recorded);
    expect(recorded?.payload).toEqual({ actor: expect.stringMatching(/^api_key:/) });
  });

  test("still verifies after a payload is erased, and marks the entry as erased", async () => {
    const { cert_id } = await issueCertificate();
    // Adds an audit entry whose payload is stored in the database.
    await getWithKey(`/v1/certs/${cert_id}/evidence-pack`, world.acme.keys.live);
    const row = await env.DB.prepare("SELECT id, entity_id, type, payload_sealed FROM audit_entries WHERE chain = ? ORDER BY ord LIMIT 1")
      .bind(fullTrail.chain)
      .first<{ id: string; entity_id: string; type: string; payload_sealed: string }>();
    const isRow = (entry: { readonly entity_id: string; readonly type: string }) =>
      entry.entity_id === row?.entity_id && entry.type === row.type;
    await env.DB.prepare("UPDATE audit_entries SET payload_sealed = NULL WHERE id = ?").bind(row?.id).run();
    const erased = await readTrail(world.memberEmail, "?limit=200");
    await env.DB.prepare("UPDATE audit_entries SET payload_sealed = ? WHERE id = ?").bind(row?.payload_sealed, row?.id).run();
    expect(erased.entries.find(isRow)).toMatchObject({ payload: null, payload_salt: null, erased: true });
    expect(erased.entries.filter((entry) => entry.erased)).toHaveLength(1);
    expect(await verifyTrail(erased)).toBe("ok");
  });

  test.each(["?limit=0", "?limit=x", "?limit=1.5", "?before_seq=0", "?before_seq=-1", "?limit=1&limit=2"])(
    "returns 400 invalid_request for %s",
    async (query) => {
      const response = await call(`${path}${query}`, { headers: await signIn(world.memberEmail) });
      expect([response.status, response.body.error.code]).toEqual([400, "invalid_request"]);
    },
  );

  test("returns 503 storage_unavailable while the audit log is unavailable", async () => {
    const holder = platform as { auditLogStub: unknown };
    const { auditLogStub } = holder;
    holder.auditLogStub = () => {
      throw new Error("Network connection lost.");
    };
    const response = await call(path, { headers: await signIn(world.memberEmail) });
    holder.auditLogStub = auditLogStub;
    expect([response.status, response.body.error.code, response.headers.get("retry-after")]).toEqual([503, "storage_unavailable", "1"]);
  });
});
