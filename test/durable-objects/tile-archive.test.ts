// Tests the upload of full tiles to R2: what is uploaded, and that R2 never affects the log itself.
import { afterEach, describe, expect, test, vi } from "vitest";
import { encodeUtf8, toHex } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { encodeEntryBundle } from "../../core/ledger/tiles.ts";
import { minuteMs } from "../../core/time.ts";
import { appendLeaves } from "../../durable-objects/transparency-log/tables.ts";
import { addBatch, auditorHeaders, buildEntry, buildPost, waitForCheckpoint } from "../support/ledger.ts";
import {
  createBucketWith,
  createTiledLedger,
  failingBucket,
  listStoredTiles,
  tileBucket,
  type TiledLedger,
} from "../support/tiled-ledger.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const fullPaths = ["tile/0/000", "tile/0/001", "tile/entries/000", "tile/entries/001"];

const listPaths = async ({ origin }: TiledLedger): Promise<readonly string[]> => [...(await listStoredTiles(origin)).keys()].sort();

const findAlarm = ({ withObject }: TiledLedger): Promise<number | null> => withObject((_, storage) => storage.getAlarm());

/** Moves the clock past the longest wait between two upload attempts. */
const skipRetryDelay = (): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 16 * minuteMs });
};

describe("uploading tiles", () => {
  test("stores every full tile and bundle at its path, and no partial one", async () => {
    const ledger = createTiledLedger();
    await ledger.grow(0, 600);
    await ledger.runAlarm();
    const stored = await listStoredTiles(ledger.origin);
    expect([...stored.keys()].sort()).toEqual(fullPaths);
    for (const [path, bytes] of stored)
      expect(toHex(bytes), path).toBe(toHex((await ledger.call(path, { headers: auditorHeaders })).bytes));
    await ledger.grow(600, 800);
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual([...fullPaths, "tile/0/002", "tile/entries/002"].sort());
    expect(await findAlarm(ledger)).toBeNull();
  });

  test("stores a tile of a higher level when the tiles below it are full", { timeout: 120_000 }, async () => {
    const ledger = createTiledLedger();
    const entries = Array.from({ length: 65_536 }, (_, at) => encodeUtf8(`${at}`));
    await ledger.withObject((_, storage) =>
      storage.transactionSync(() =>
        appendLeaves(
          storage.sql,
          entries.map((entry) => ({ dedupeKey: sha256(entry), entry })),
        ),
      ),
    );
    await waitForCheckpoint(ledger.call, 65_536);
    const uploaded: string[] = [];
    ledger.useBucket(
      createBucketWith({
        put: async (_, key) => {
          uploaded.push(String(key).slice(ledger.origin.length + 1));
          return {};
        },
      }),
    );
    await ledger.runAlarm();
    expect(uploaded.filter((path) => !/^tile\/(?:0|entries)\//.test(path))).toEqual(["tile/1/000"]);
    expect(uploaded).toHaveLength(513);
  });

  test("starts with an alarm after a checkpoint is signed, and never before the tile is signed", async () => {
    const ledger = createTiledLedger();
    await addBatch(ledger.call, 0, 300);
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual([]);
    expect(await findAlarm(ledger)).toBeNull();
    await waitForCheckpoint(ledger.call, 300);
    expect(await findAlarm(ledger)).not.toBeNull();
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual(["tile/0/000", "tile/entries/000"]);
  });

  test("does nothing without a bucket, and uploads everything once there is one", async () => {
    const ledger = createTiledLedger();
    ledger.useBucket(undefined);
    await ledger.grow(0, 520);
    expect(await findAlarm(ledger)).toBeNull();
    ledger.useBucket(tileBucket);
    await ledger.grow(520, 530);
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual(fullPaths);
  });

  test("uploads nothing from a frozen log", async () => {
    const ledger = createTiledLedger();
    await ledger.grow(0, 300);
    await ledger.withObject((log) => log.checkHighwater("999", "00".repeat(32)));
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual([]);
  });
});

describe("when R2 or the object fails", () => {
  test("an object that dies after an upload, before it has recorded the upload, uploads the same bytes again", async () => {
    const ledger = createTiledLedger();
    await ledger.grow(0, 520);
    ledger.useBucket(
      createBucketWith({
        put: async (put, ...values) => {
          await put(...values);
          throw new Error("the object died");
        },
      }),
    );
    await ledger.runAlarm();
    const before = await tileBucket.head(`${ledger.origin}/tile/0/000`);
    expect(before).not.toBeNull();
    ledger.useBucket(tileBucket);
    skipRetryDelay();
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual(fullPaths);
    expect((await tileBucket.head(`${ledger.origin}/tile/0/000`))?.version).toBe(before?.version);
  });

  test("the log appends and serves entries while R2 is down, and retries the upload after longer and longer waits", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const ledger = createTiledLedger();
    ledger.useBucket(failingBucket);
    await ledger.grow(0, 300);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const delays: number[] = [];
    for (let failures = 0; failures < 9; failures += 1) {
      await ledger.runAlarm();
      const nextAt = (await findAlarm(ledger)) as number;
      delays.push((nextAt - Date.now()) / 1_000);
      vi.setSystemTime(nextAt);
    }
    expect(delays).toEqual([10, 20, 40, 80, 160, 320, 640, 900, 900]);
    expect(error).toHaveBeenCalledTimes(9);
    expect(error.mock.calls[0]?.[0]).toContain('"at":"log-tiles.upload"');
    vi.useRealTimers();
    await ledger.grow(300, 520);
    expect((await ledger.call("tile/0/000")).status).toBe(200);
    expect((await ledger.call("proof?index=3")).status).toBe(200);
    ledger.useBucket(tileBucket);
    skipRetryDelay();
    vi.setSystemTime(Date.now() + 60 * minuteMs);
    await ledger.runAlarm();
    expect(await listPaths(ledger)).toEqual(fullPaths);
  });

  test("the log appends entries and signs checkpoints without delay while R2 hangs", async () => {
    const ledger = createTiledLedger();
    await ledger.grow(0, 300);
    const state = { hasStarted: false, isReleased: false };
    ledger.useBucket(
      createBucketWith({
        put: async (put, ...values) => {
          state.hasStarted = true;
          while (!state.isReleased) await scheduler.wait(5);
          return put(...values);
        },
      }),
    );
    const upload = ledger.runAlarm();
    await expect.poll(() => state.hasStarted).toBe(true);
    await ledger.grow(300, 310);
    expect((await ledger.call("add", buildPost(buildEntry(310)))).text).toBe("310");
    state.isReleased = true;
    await upload;
    expect(await listPaths(ledger)).toEqual(["tile/0/000", "tile/entries/000"]);
  });

  test.each(["tile/0/000", "tile/entries/000"])(
    "other bytes in R2 at %s are never replaced, and stop the upload with an error",
    async (path) => {
      const error = vi.spyOn(console, "error").mockReturnValue();
      const ledger = createTiledLedger();
      await tileBucket.put(`${ledger.origin}/${path}`, encodeEntryBundle([encodeUtf8("another history")]));
      await ledger.grow(0, 520);
      await ledger.runAlarm();
      expect(error.mock.calls.map(([line]) => JSON.parse(line as string))).toEqual([
        { level: "error", at: "log-tiles.upload", error: `TileConflict: R2 has other bytes at ${ledger.origin}/${path}` },
      ]);
      expect(new TextDecoder().decode((await listStoredTiles(ledger.origin)).get(path))).toContain("another history");
      expect(await listPaths(ledger)).not.toContain("tile/0/001");
      await ledger.grow(520, 530);
      expect((await ledger.call(path, { headers: auditorHeaders })).bytes).toHaveLength(
        path === "tile/0/000" ? 8_192 : encodeEntryBundle(Array.from({ length: 256 }, (_, at) => buildEntry(at))).length,
      );
    },
  );
});
