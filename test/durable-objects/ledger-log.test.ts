// Tests the embedded ledger through its HTTP interface: adding, reading and proving entries.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, test, vi } from "vitest";
import { toBase64, fromBase64, toHex, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { parseCheckpoint, verifyCheckpoint } from "../../core/ledger/checkpoint.ts";
import { buildInclusionProof, hashLeaf } from "../../core/ledger/merkle.ts";
import { keyKinds } from "../../core/ledger/note.ts";
import { parseReceipt, formatReceipt, verifyReceipt, type Receipt } from "../../core/ledger/receipt.ts";
import {
  parseEntryBundle,
  encodeEntryBundle,
  buildInclusionProofFromTiles,
  formatTilePath,
  listTilesRead,
  type TileReader,
} from "../../core/ledger/tiles.ts";
import { parseTlogProof, verifyTlogProof } from "../../core/ledger/tlog-proof.ts";
import type { LedgerEnv } from "../../durable-objects/ledger-log/access.ts";
import { LedgerLog } from "../../durable-objects/ledger-log/object.ts";
import { noteCrypto } from "../../storage/note-keys.ts";
import {
  addBatch,
  toLedgerResponse,
  createLedgerCall,
  auditorHeaders,
  base,
  waitForCheckpoint,
  buildEntry,
  createLedger,
  createLedgerObject,
  createLedgerWith,
  logVkey,
  origin,
  buildPost,
  settings,
  trust,
  writerHeaders,
} from "../support/ledger.ts";
import { buildAuditRow, getAuditLogStub, toAuditLog, toChainTag } from "../support/audit.ts";
import { createSecret } from "../support/note-keys.ts";

afterEach(() => {
  vi.useRealTimers();
});
import vectors from "../vectors/ledger.json" with { type: "json" };

describe("adding an entry", () => {
  test("returns its index, the same one for the same bytes (L5)", async () => {
    const call = createLedger();
    const statement = vectors.anchor[0]?.statement ?? "";
    expect(await call("add", buildPost(statement))).toMatchObject({ status: 200, text: "0" });
    expect(await call("add", buildPost("another"))).toMatchObject({ status: 200, text: "1" });
    expect(await call("add", buildPost(statement))).toMatchObject({ status: 200, text: "0" });
    const batch = await call("add-batch", buildPost(encodeEntryBundle([encodeUtf8("third"), encodeUtf8(statement), encodeUtf8("third")])));
    expect(batch).toMatchObject({ status: 200, text: '{"indices":["2","0","2"]}' });
    expect(batch.headers.get("content-type")).toBe("application/json");
  });

  test("accepts a whole tile at once and an entry of the maximum length", async () => {
    const call = createLedger();
    const batch = await addBatch(call, 0, 256);
    expect(JSON.parse(batch.text).indices).toHaveLength(256);
    expect(await call("add", buildPost(new Uint8Array(65_535)))).toMatchObject({ status: 200, text: "256" });
  });

  test("survives a restart of the object", async () => {
    const stub = createLedgerObject();
    const add = async (body: string): Promise<string> => (await createLedgerCall(stub)("add", buildPost(body))).text;
    expect(await add("one")).toBe("0");
    expect(await add("two")).toBe("1");
    await evictDurableObject(stub);
    expect(await add("one")).toBe("0");
    expect(await add("three")).toBe("2");
  });

  test.each<[number, string, string, RequestInit]>([
    [401, "no token", "add", buildPost("x", {})],
    [401, "a wrong token", "add", buildPost("x", { authorization: "Bearer nope" })],
    [401, "another scheme", "add-batch", buildPost("x", { authorization: `Basic ${settings.LEDGER_WRITE_TOKEN}` })],
    [401, "an empty token", "add", buildPost("x", { authorization: "Bearer " })],
    [403, "the auditor's token", "add", buildPost("x", auditorHeaders)],
    [403, "the auditor's token", "add-batch", buildPost("x", auditorHeaders)],
    [400, "no bytes", "add", buildPost(null)],
    [400, "an empty batch", "add-batch", buildPost(null)],
    [400, "half an entry", "add-batch", buildPost(new Uint8Array([0, 2, 65]))],
    [400, "an empty entry", "add-batch", buildPost(encodeEntryBundle([encodeUtf8("a"), new Uint8Array(0)]))],
    [413, "an entry too long", "add", buildPost(new Uint8Array(65_536))],
    [413, "too many entries", "add-batch", buildPost(encodeEntryBundle(Array.from({ length: 257 }, (_, at) => encodeUtf8(`e${at}`))))],
    [413, "a batch too large", "add-batch", buildPost(new Uint8Array(1_048_577))],
    [405, "another method", "add", { method: "PUT", body: "x", headers: writerHeaders }],
    [404, "another path", "add-all", { headers: writerHeaders }],
  ])("returns %i for %s (%s)", async (status, _, path, init) => {
    const call = createLedger();
    const response = await call(path, init);
    expect(response.status).toBe(status);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    expect(parseCheckpoint((await call("checkpoint")).text)?.size).toBe(0n);
  });

  test("returns 429 to anonymous readers who request too many proofs, like the audit log", async () => {
    const countStatuses = async (fetch: (path: string) => Promise<Response>): Promise<number[]> => {
      const responses = await Promise.all(Array.from({ length: 203 }, () => fetch("proof?index=0")));
      for (const response of responses) await response.arrayBuffer();
      return [200, 429].map((status) => responses.filter((response) => response.status === status).length);
    };
    await runInDurableObject(createLedgerObject(), async (_, state) => {
      const ledger = new LedgerLog(state, settings);
      await ledger.fetch(new Request(`${base}/add`, buildPost("one") as never));
      await ledger.fetch(new Request(`${base}/checkpoint`));
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
      expect(await countStatuses((path) => ledger.fetch(new Request(`${base}/${path}`)))).toEqual([200, 3]);
    });
    vi.useRealTimers();
    const shard = getAuditLogStub(toAuditLog(12));
    await shard.append([buildAuditRow("one", toChainTag(0x12))]);
    await shard.proveChainHead(toChainTag(0x12));
    await runInDurableObject(shard, async (log) => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
      expect(await countStatuses((path) => log.fetch(new Request(`http://svc/audit/tc/${path}`)))).toEqual([200, 3]);
    });
  });

  test("returns 429 beyond the limit per second", async () => {
    const call = createLedgerWith({ LEDGER_ENTRIES_PER_SECOND: "3" });
    // All calls use one object, because the object keeps its budget in memory.
    const responses = await runInDurableObject(createLedgerObject(), async (_, state) => {
      const ledger = new LedgerLog(state, { ...settings, LEDGER_ENTRIES_PER_SECOND: "3" });
      const second = Math.floor(Date.now() / 1_000) + 1;
      await scheduler.wait(second * 1_000 - Date.now() + 5);
      return Promise.all(
        ["a", "b", "c", "d"].map(async (body) =>
          toLedgerResponse(await ledger.fetch(new Request(`${base}/add`, buildPost(body) as never))),
        ),
      );
    });
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(responses[3]?.headers.get("retry-after")).toBe("1");
    expect((await addBatch(call, 0, 200)).status).toBe(200); // larger than the budget of one second, but allowed as the only request in that second
  });
});

describe("reading the ledger", () => {
  test("returns a checkpoint that its key signed and that must not be cached", async () => {
    const call = createLedger();
    await addBatch(call, 0, 5);
    const response = await call("checkpoint");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await verifyCheckpoint(noteCrypto, response.text, trust)).toMatchObject({ ok: true, checkpoint: { size: 5n } });
  });

  test("returns tiles without authentication, including partial tiles of old checkpoints (L6)", async () => {
    const call = createLedger();
    await addBatch(call, 0, 100);
    const old = await call("tile/0/000.p/100");
    expect(old.status).toBe(200);
    expect(old.bytes).toHaveLength(3_200);
    expect((await call("tile/0/000.p/101")).status).toBe(404);
    expect((await call("tile/0/000")).status).toBe(404);
    await addBatch(call, 100, 300);
    const repeated = await call("tile/0/000.p/100");
    expect(toHex(repeated.bytes)).toBe(toHex(old.bytes));
    const full = await call("tile/0/000");
    expect(full.bytes).toHaveLength(8_192);
    expect(toHex(full.bytes.subarray(0, 3_200))).toBe(toHex(old.bytes));
    expect((await call("tile/0/001.p/44")).bytes).toHaveLength(44 * 32);
    expect((await call("tile/1/000.p/1")).bytes).toHaveLength(32);
    for (const { headers } of [old, repeated, full]) {
      expect(headers.get("content-type")).toBe("application/octet-stream");
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    }
    for (const path of [
      "tile/0/001",
      "tile/0/001.p/45",
      "tile/1/000",
      "tile/2/000.p/1",
      "tile/0/002.p/1",
      "tile/0/0",
      "tile/0/x001/000",
      "tile/64/000",
    ]) {
      expect((await call(path)).status).toBe(404);
    }
  });

  test("requires an auditor token for entries (L6)", async () => {
    const call = createLedger();
    await addBatch(call, 0, 260);
    expect((await call("tile/entries/000")).status).toBe(401);
    expect((await call("tile/entries/000", { headers: writerHeaders })).status).toBe(403);
    const response = await call("tile/entries/000", { headers: auditorHeaders });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("private, max-age=31536000, immutable");
    expect(response.headers.get("vary")).toBe("Authorization");
    expect(parseEntryBundle(response.bytes)).toEqual(Array.from({ length: 256 }, (_, at) => buildEntry(at)));
    const edge = await call("tile/entries/001.p/4", { headers: auditorHeaders });
    expect(parseEntryBundle(edge.bytes)).toEqual([256, 257, 258, 259].map(buildEntry));
    expect((await call("tile/entries/001.p/5", { headers: auditorHeaders })).status).toBe(404);
  });

  test("returns entries without authentication when they are public", async () => {
    const call = createLedgerWith({ LEDGER_PUBLIC_ENTRIES: "true" });
    await call("add", buildPost("open"));
    const response = await call("tile/entries/000.p/1");
    expect(response).toMatchObject({ status: 200, bytes: encodeEntryBundle([encodeUtf8("open")]) });
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect((await createLedgerWith({ LEDGER_PUBLIC_ENTRIES: "1" })("tile/entries/000.p/1")).status).toBe(401);
  });

  test("answers HEAD like GET, without the body", async () => {
    const call = createLedger();
    await addBatch(call, 0, 3);
    const head = await call("tile/0/000.p/3", { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, text: "" });
    expect(head.headers.get("cache-control")).toContain("immutable");
  });

  test("returns the proof of an entry as one text", async () => {
    const call = createLedger();
    await addBatch(call, 0, 70);
    const first = await waitForCheckpoint(call, 70);
    await addBatch(call, 70, 90);
    await waitForCheckpoint(call, 90);
    for (const [index, size] of [
      [0, 70],
      [69, 70],
      [12, 90],
      [89, 90],
    ] as const) {
      const { status, text } = await call(`proof?index=${index}&size=${size}`);
      expect(status).toBe(200);
      expect(await verifyTlogProof(noteCrypto, text, buildEntry(index), trust)).toMatchObject({
        ok: true,
        checkpoint: { size: BigInt(size) },
      });
    }
    expect(parseTlogProof((await call("proof?index=5&size=70")).text)?.checkpoint).toBe(first);
    expect(parseCheckpoint(parseTlogProof((await call("proof?index=5")).text)?.checkpoint ?? "")?.size).toBe(90n);
    for (const query of ["index=90", "index=5&size=71", "index=70&size=70", "index=9007199254740993", "index=1&size=9223372036854775807"]) {
      expect((await call(`proof?${query}`)).status).toBe(404);
    }
    for (const query of ["", "index=", "index=-1", "index=01", "index=1&size=x", "size=70"])
      expect((await call(`proof?${query}`)).status).toBe(400);
  });

  test("lets a client that knows only the key build and verify a receipt from tiles", async () => {
    const call = createLedger();
    const statement = encodeUtf8(vectors.anchor[0]?.statement ?? "");
    await addBatch(call, 0, 300);
    const submittedAt = new Date().toISOString();
    const index = BigInt((await call("add", buildPost(statement))).text);
    await addBatch(call, 301, 320);
    const note = await waitForCheckpoint(call, 320);
    const verdict = await verifyCheckpoint(noteCrypto, note, trust);
    if (!verdict.ok) throw new Error(verdict.fault);
    const { size, root } = verdict.checkpoint;

    const needed = listTilesRead(size, (nodes) => buildInclusionProof(index, size, nodes));
    const fetched = new Map(
      await Promise.all(needed.map(async (place) => [formatTilePath(place), (await call(formatTilePath(place))).bytes] as const)),
    );
    const read: TileReader = (level, n, width) => fetched.get(formatTilePath({ level, n, width })) ?? new Uint8Array(0);
    const proof = buildInclusionProofFromTiles(index, size, read);
    const receipt: Receipt = {
      v: 1,
      ledger: `tlog:${origin}`,
      kind: "tlog",
      tx_ref: `${origin}#${index}`,
      entry_hash: toHex(sha256(statement)),
      leaf_index: index.toString(),
      leaf_hash: toBase64(hashLeaf(statement)),
      inclusion_proof: proof.map(toBase64),
      signed_root: note,
      tree_size: size.toString(),
      root_hash: toBase64(root),
      submitted_at: submittedAt,
      verified_at: new Date().toISOString(),
    };
    const kept = parseReceipt(formatReceipt(receipt)) as Receipt;
    const pinned = [{ origin, vkey: logVkey, validFrom: "2026-01-01T00:00:00.000Z" }];
    expect(await verifyReceipt(noteCrypto, kept, statement, { trustedKeys: pinned })).toMatchObject({ ok: true, index: 300n });
  });
});

describe("a misconfigured or damaged ledger", () => {
  test.each<[string, LedgerEnv]>([
    ["no origin", { LEDGER_ORIGIN: "" }],
    ["an origin without a path", { LEDGER_ORIGIN: "ledger.svc.test" }],
    ["no key", { LEDGER_KEY: "", LOG_SEED: "" }],
  ])("returns 503 with %s", async (_, change) => {
    const call = createLedgerWith(change);
    expect((await call("checkpoint")).status).toBe(503);
    expect((await call("add", buildPost("x"))).status).toBe(503);
  });

  test("does not sign with the key of another log or a malformed key", async () => {
    for (const key of [await createSecret("other.example/log", 5), "PRIVATE+KEY+broken", await createSecret(origin, 5, keyKinds.witness)]) {
      expect((await createLedgerWith({ LEDGER_KEY: key, LOG_SEED: "" })("checkpoint")).status).toBe(503);
    }
  });

  test("accepts no entries without a write token", async () => {
    const call = createLedgerWith({ LEDGER_WRITE_TOKEN: "", LEDGER_AUDITOR_TOKEN: "" });
    expect((await call("add", buildPost("x", { authorization: "Bearer " }))).status).toBe(401);
    expect((await call("add", buildPost("x"))).status).toBe(401);
  });

  test("accepts and signs nothing after its storage was restored to an earlier state, and still serves what it has (L3)", async () => {
    const stub = createLedgerObject();
    const call = createLedgerCall(stub);
    await addBatch(call, 0, 4);
    await waitForCheckpoint(call, 4);
    expect(await stub.checkHighwater("4", (await stub.getState()).signed?.root ?? "")).toBe(true);
    expect(await stub.checkHighwater("9", "00".repeat(32))).toBe(false);
    expect((await stub.getState()).frozen).toBe("the log had 9 entries and has 4");
    expect((await call("checkpoint")).status).toBe(503);
    expect((await call("add", buildPost("x"))).status).toBe(503);
    expect((await addBatch(call, 10, 12)).status).toBe(503);
    expect((await call("tile/0/000.p/4")).status).toBe(200);
    expect((await call("proof?index=1&size=4")).status).toBe(200);
    await runInDurableObject(stub, (ledger) => {
      expect(() => ledger.checkHighwater("x", "00")).toThrow("not a tree head");
    });
  });

  test("can be read but not written after its configured name changed", async () => {
    const stub = createLedgerObject();
    const call = createLedgerCall(stub);
    await addBatch(call, 0, 4);
    const last = await waitForCheckpoint(call, 4);
    const successor = "ledger.svc.test/ledger/next";
    const changed = { LEDGER_ORIGIN: successor, LEDGER_KEY: await createSecret(successor, 77) };
    const closed = createLedgerWith(changed, stub);
    expect(await closed("checkpoint")).toMatchObject({ status: 200, text: last });
    expect((await closed("tile/0/000.p/4")).status).toBe(200);
    expect((await closed("proof?index=1")).status).toBe(200);
    expect((await closed("add", buildPost("x"))).status).toBe(503);
  });
});

test("a proof contains its hashes in base64", async () => {
  const call = createLedger();
  await addBatch(call, 0, 2);
  const { text } = await call("proof?index=0");
  expect(fromBase64(text.split("\n")[2] ?? "")).toEqual(hashLeaf(buildEntry(1)));
});
