// Tests the embedded ledger as the audit log's witness: it does not cosign a log that was reset to an earlier state or that shows two
// histories.
import { env } from "cloudflare:workers";
import { describe, expect, test, vi } from "vitest";
import { toBase64, encodeUtf8 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import type { ShardId } from "../../core/ids.ts";
import { formatCheckpoint, getLogPath, verifyCheckpoint } from "../../core/ledger/checkpoint.ts";
import { getLedgerOrigin } from "../../core/ledger/log-names.ts";
import { hashLeaf, type TreeHead } from "../../core/ledger/merkle.ts";
import { formatVkey, parseVkey, signNote, type NoteSigner, type VerifierKey } from "../../core/ledger/note.ts";
import { buildConsistencyProofFromTiles, computeRootFromTiles, computeTilesAfterAppend, type TileReader } from "../../core/ledger/tiles.ts";
import { formatAddCheckpointRequest } from "../../core/ledger/witness.ts";
import { noteCrypto, openKeysNamed, openNoteSigner } from "../../storage/note-keys.ts";
import {
  createLedger,
  createLedgerCall,
  createLedgerObject,
  createLedgerWith,
  origin,
  settings,
  type LedgerResponse,
  type LedgerCall,
} from "../support/ledger.ts";
import { createSecret, deriveVkey } from "../support/note-keys.ts";

const auditOrigin = "svc.test/audit/t3";
const [auditSigner] = (await openKeysNamed({ secrets: "", logSeed: env.LOG_SEED }, auditOrigin)) as [NoteSigner];
const witnessKey = parseVkey(await deriveVkey(settings.LEDGER_WITNESS_KEY as string)) as VerifierKey;

describe("cosigning the audit log", () => {
  /** Creates an audit log in memory. */
  const createAuditLog = (salt = "") => {
    const tiles = computeTilesAfterAppend(
      0n,
      Array.from({ length: 50 }, (_, at) => hashLeaf(encodeUtf8(`audit ${salt}${at}`))),
      () => new Uint8Array(0),
    );
    const read: TileReader = (level, n, width) =>
      tiles.find((tile) => tile.level === level && tile.n === n)?.data.subarray(0, width * 32) ?? new Uint8Array(0);
    const createHead = (size: number): TreeHead => ({ size: BigInt(size), root: computeRootFromTiles(BigInt(size), read) });
    return {
      head: createHead,
      proof: (from: number, newSize: number): Uint8Array[] => buildConsistencyProofFromTiles(BigInt(from), BigInt(newSize), read),
      note: async (size: number, name = auditOrigin): Promise<string> => {
        return signNote(formatCheckpoint({ origin: name, ...createHead(size) }), [auditSigner]);
      },
    };
  };
  const log = createAuditLog();
  const request = async (from: number, newSize: number, sourceLog = log): Promise<string> =>
    formatAddCheckpointRequest({
      oldSize: BigInt(from),
      proof: from === 0 ? [] : sourceLog.proof(from, newSize),
      checkpoint: await sourceLog.note(newSize),
    });
  const send = (call: LedgerCall, body: string): Promise<LedgerResponse> => call("add-checkpoint", { method: "POST", body });

  test("returns one line that verifies with the checkpoint, at every step", async () => {
    const call = createLedger();
    for (const [from, newSize] of [
      [0, 1],
      [1, 7],
      [7, 7],
      [7, 32],
      [32, 50],
    ] as const) {
      const response = await send(call, await request(from, newSize));
      expect(response.status).toBe(200);
      expect(response.text).toMatch(/^\u2014 ledger\.svc\.test\/witness [A-Za-z0-9+/]+={0,2}\n$/);
      const cosigned = (await log.note(newSize)) + response.text;
      const verdict = await verifyCheckpoint(noteCrypto, cosigned, {
        origin: auditOrigin,
        keys: [auditSigner.key],
        witnesses: [witnessKey],
      });
      const [cosignature] = verdict.ok ? verdict.cosignatures : [];
      expect(Math.abs(Number(cosignature?.time) - Date.now() / 1_000)).toBeLessThan(10);
    }
  });

  test("refuses a log that was reset or has another history, and returns the size it knows (L3)", async () => {
    const call = createLedger();
    await send(call, await request(0, 20));
    for (const body of [await request(0, 10), await request(0, 30), await request(10, 30), await request(10, 10)]) {
      const response = await send(call, body);
      expect(response).toMatchObject({ status: 409, text: "20\n" });
      expect(response.headers.get("content-type")).toBe("text/x.tlog.size");
    }
    const fork = createAuditLog("forked ");
    expect(await send(call, await request(20, 20, fork))).toMatchObject({ status: 409, text: "20\n" });
    expect((await send(call, await request(20, 30, fork))).status).toBe(422);
    expect((await send(call, await request(20, 30))).status).toBe(200);
  });

  test("checks a signature that is repeated on 100 lines only once", async () => {
    const call = createLedger();
    const verify = vi.spyOn(crypto.subtle, "verify");
    const body = await request(0, 20);
    const [line = ""] = body.split("\n").slice(-2);
    const repeated = `${body}${`${line}\n`.repeat(99)}`;
    const verifications = async (sent: string): Promise<number> => {
      verify.mockClear();
      expect((await send(call, sent)).status).toBe(200);
      return verify.mock.calls.length;
    };
    const once = await verifications(body);
    expect(once).toBe(1);
    expect(await verifications(repeated.replace("old 0", "old 20"))).toBe(once);
    verify.mockRestore();
  });

  test("returns 422 for a proof that does not connect the trees", async () => {
    const call = createLedger();
    await send(call, await request(0, 20));
    const good = log.proof(20, 30);
    const buildBody = async (proof: readonly Uint8Array[], from = 20n): Promise<string> =>
      formatAddCheckpointRequest({ oldSize: from, proof, checkpoint: await log.note(30) });
    for (const proof of [[], good.slice(1), good.toReversed(), [...good, sha256("more")]]) {
      expect((await send(call, await buildBody(proof))).status).toBe(422);
    }
    const first = createLedger();
    expect((await send(first, await buildBody([sha256("x")], 0n))).status).toBe(422);
  });

  test("returns 404 for an unwatched log, 403 for one that did not sign, 400 for a malformed request", async () => {
    const call = createLedger();
    const unknown = formatAddCheckpointRequest({ oldSize: 0n, proof: [], checkpoint: await log.note(5, "svc.test/audit/7") });
    expect((await send(call, unknown)).status).toBe(404);
    const other = await openNoteSigner(await createSecret(auditOrigin, 99));
    const unsigned = await signNote(formatCheckpoint({ origin: auditOrigin, ...log.head(5) }), [other]);
    expect((await send(call, formatAddCheckpointRequest({ oldSize: 0n, proof: [], checkpoint: unsigned }))).status).toBe(403);
    const good = await request(0, 5);
    const malformed = [
      "",
      "old 0\n",
      good.replace("old 0", "old 00"),
      good.replace("old 0", "old -1"),
      good.replace("old 0", "new 0"),
      good.replace("old 0\n", "old 0\nnot base64\n"),
      good.replace("old 0\n", `old 0\n${`${toBase64(sha256("x"))}\n`.repeat(64)}`),
      good.replaceAll("\n", "\r\n"),
      good.slice(0, -1),
      `old 9\n\n${await log.note(5)}`,
    ];
    for (const body of malformed) expect((await send(call, body)).status).toBe(400);
    expect((await call("add-checkpoint", { method: "POST", body: new Uint8Array([0x6f, 0xff]) })).status).toBe(400);
    expect((await call("add-checkpoint", { method: "POST", body: new Uint8Array(70_000) })).status).toBe(413);
    expect((await call("add-checkpoint")).status).toBe(405);
    expect((await send(call, good)).status).toBe(200);
  });

  test("accepts one of two concurrent requests with the same old size and returns the new size to the other", async () => {
    const call = createLedger();
    await send(call, await request(0, 5));
    const responses = await Promise.all([
      send(call, await request(5, 20)),
      send(call, await request(5, 30)),
      send(call, await request(5, 40)),
    ]);
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    const sizes = new Set(responses.filter(({ status }) => status === 409).map(({ text }) => text));
    expect(sizes.size).toBe(1);
    expect(["20\n", "30\n", "40\n"]).toContain([...sizes][0]);
  });

  test("is not available at another shard's ledger or an earlier ledger, which do not know what the witness has cosigned", async () => {
    const other = getLedgerOrigin(origin, "01" as ShardId);
    const response = await env.LEDGER_LOG.getByName(other).fetch(`http://ledger${getLogPath(other)}/add-checkpoint`, {
      method: "POST",
      body: await request(0, 5),
    });
    expect(response.status).toBe(404);
    const stub = createLedgerObject();
    const body = await request(0, 5);
    expect((await send(createLedgerCall(stub), body)).status).toBe(200);
    expect((await send(createLedgerWith({ LEDGER_ORIGIN: "ledger.svc.test/ledger/next" }, stub), body)).status).toBe(404);
  });

  test("is not available without a witness key, or for logs without a known key", async () => {
    expect((await send(createLedgerWith({ LEDGER_WITNESS_KEY: "", LOG_SEED: "" }), await request(0, 5))).status).toBe(404);
    expect((await send(createLedgerWith({ BASE_URL: "https://other.test/v1" }), await request(0, 5))).status).toBe(404);
    const vkey = formatVkey(auditSigner.key);
    expect((await send(createLedgerWith({ LOG_SEED: "", AUDIT_VKEY: "" }), await request(0, 5))).status).toBe(404);
    expect((await send(createLedgerWith({ LOG_SEED: "", AUDIT_VKEY: vkey }), await request(0, 5))).status).toBe(200);
    expect((await send(createLedgerWith({ LEDGER_WITNESS_KEY: settings.LEDGER_KEY as string }), await request(0, 5))).status).toBe(503);
  });
});
