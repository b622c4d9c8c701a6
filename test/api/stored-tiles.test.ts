// Tests that the public routes of the logs return full tiles from R2 without starting the log's object, and that R2 never changes a
// response.
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { toHex } from "../../core/bytes.ts";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { buildAuditRow, toChainTag } from "../support/audit.ts";
import { addBatch, auditorHeaders, waitForCheckpoint, writerHeaders, type LedgerCall } from "../support/ledger.ts";
import { createBucketWith, failingBucket, listStoredTiles, tileBucket } from "../support/tiled-ledger.ts";

const ledgerOrigin = "ledger.svc.test/ledger/test";
const auditOrigin = "svc.test/audit/00";
const ledgerStub = env.LEDGER_LOG.getByName(ledgerOrigin);
const auditStub = env.AUDIT_LOG.getByName("00");

type SendRequest = (path: string, init?: RequestInit) => Promise<Response>;

const createApp = async (bindings: Partial<Env>): Promise<SendRequest> => {
  const app = buildApp(await createPlatform({ ...env, ...bindings }));
  return async (path, init) => app.fetch(new Request(`http://svc.test${path}`, init));
};

const unreachable = { getByName: () => ({ fetch: () => Promise.reject(new Error("the object was started")) }) } as never;

/** The service without the objects of its logs. Only R2 can respond. */
const askStoredTiles = await createApp({ LEDGER_LOG: unreachable, AUDIT_LOG: unreachable });
/** The service without R2. Only the objects can respond. */
const askObjects = await createApp({ LOG_TILES: undefined } as never);

const varyingHeaders: readonly string[] = ["x-request-id", "ratelimit-remaining", "ratelimit-reset"];

const describeResponse = async (response: Response) => ({
  status: response.status,
  headers: Object.fromEntries([...response.headers].filter(([name]) => !varyingHeaders.includes(name))),
  body: toHex(new Uint8Array(await response.arrayBuffer())),
});

const callLedger: LedgerCall = async (path, init) => {
  const response = (await ledgerStub.fetch(`http://ledger/ledger/test/${path}`, init as never)) as unknown as Response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: new TextDecoder().decode(bytes) };
};

const hashTiles = ["/ledger/test/tile/0/000", "/ledger/test/tile/0/001", "/audit/00/tile/0/000", "/audit/00/tile/entries/000"];
const bundle = "/ledger/test/tile/entries/000";

beforeAll(async () => {
  await addBatch(callLedger, 0, 600);
  await waitForCheckpoint(callLedger, 600);
  await auditStub.append(Array.from({ length: 300 }, (_, at) => buildAuditRow(`row-${at}`, toChainTag(1))));
  await auditStub.proveChainHead(toChainTag(1));
  await runDurableObjectAlarm(ledgerStub);
  await runDurableObjectAlarm(auditStub);
  const isUploaded = async () => {
    expect((await listStoredTiles(ledgerOrigin)).size).toBe(4);
    expect((await listStoredTiles(auditOrigin)).size).toBe(2);
  };
  await vi.waitFor(isUploaded, 20_000);
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("a full tile in R2", () => {
  test.each(hashTiles.flatMap((path) => [["GET", path] as const, ["HEAD", path] as const]))(
    "gives the same response as the object, without starting the object: %s %s",
    async (method, path) => {
      const stored = await describeResponse(await askStoredTiles(path, { method }));
      expect(stored).toMatchObject({ status: 200, headers: { "cache-control": "public, max-age=31536000, immutable" } });
      expect(stored).toEqual(await describeResponse(await askObjects(path, { method })));
    },
  );

  test("of entries is returned only to the auditor, unless entries are public", async () => {
    const stored = await describeResponse(await askStoredTiles(bundle, { headers: auditorHeaders }));
    expect(stored).toMatchObject({ status: 200, headers: { "cache-control": "private, max-age=31536000, immutable" } });
    expect(stored).toEqual(await describeResponse(await askObjects(bundle, { headers: auditorHeaders })));
    const request = await createApp({});
    expect((await request(bundle)).status).toBe(401);
    expect((await request(bundle, { headers: writerHeaders })).status).toBe(403);
    const askPublic = await createApp({ LEDGER_PUBLIC_ENTRIES: "true", LEDGER_LOG: unreachable });
    expect((await askPublic(bundle)).headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test("does not replace partial tiles, checkpoints and proofs, which the object returns", async () => {
    const request = await createApp({});
    for (const path of ["tile/0/000.p/7", "tile/0/002.p/88", "tile/0/002", "tile/5/000", "proof?index=3&size=600", "checkpoint"]) {
      expect((await askStoredTiles(`/ledger/test/${path}`)).status, path).toBe(500);
      const [one, other] = [await request(`/ledger/test/${path}`), await askObjects(`/ledger/test/${path}`)];
      expect(await describeResponse(one), path).toEqual(await describeResponse(other));
    }
  });
});

describe("R2 that does not return the right tile", () => {
  const [path] = hashTiles as [string];
  const readTile = async () => describeResponse(await askObjects(path));

  test("returns other bytes: the object responds, and an error is logged once per log and hour", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const get = async (original: (...values: unknown[]) => Promise<unknown>, key: unknown) => {
      const object = (await original(key)) as R2ObjectBody;
      return { customMetadata: object.customMetadata, arrayBuffer: async () => new ArrayBuffer(8_192) };
    };
    const request = await createApp({ LOG_TILES: createBucketWith({ get }) });
    for (let calls = 0; calls < 3; calls += 1) expect(await describeResponse(await request(path))).toEqual(await readTile());
    await request("/audit/00/tile/0/000");
    const logged = error.mock.calls.flatMap(([line]) => /R2 has other bytes at [^"]+/.exec(String(line))?.[0] ?? []);
    expect(logged).toEqual([`R2 has other bytes at ${ledgerOrigin}/tile/0/000`, `R2 has other bytes at ${auditOrigin}/tile/0/000`]);
  });

  test("returns the tile of another path: the object responds", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const get = (original: (...values: unknown[]) => Promise<unknown>) => original(`${ledgerOrigin}/tile/0/001`);
    const request = await createApp({ LOG_TILES: createBucketWith({ get }) });
    expect(await describeResponse(await request(path))).toEqual(await readTile());
  });

  test("has lost the tile: the object responds", async () => {
    const request = await createApp({ LOG_TILES: createBucketWith({ get: async () => null }) });
    expect(await describeResponse(await request(path))).toEqual(await readTile());
  });

  test("is down: the object responds, and R2 is not asked again for 30 seconds", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const request = await createApp({ LOG_TILES: failingBucket });
    for (let calls = 0; calls < 3; calls += 1) expect(await describeResponse(await request(path))).toEqual(await readTile());
    expect(error.mock.calls.filter(([line]) => String(line).includes("log tiles"))).toHaveLength(1);
    expect(await tileBucket.head(`${ledgerOrigin}/tile/0/000`)).not.toBeNull();
  });
});
