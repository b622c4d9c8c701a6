// Tests a ledger that deletes old tiles and entries from its own tables once R2 has them: responses stay the same, and nothing is lost
// regardless of what R2 does.
import { afterEach, describe, expect, test, vi } from "vitest";
import { toHex } from "../../core/bytes.ts";
import { minuteMs } from "../../core/time.ts";
import { auditorHeaders, buildEntry, buildPost } from "../support/ledger.ts";
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

const keptTiles = 2;
const size = 1_300; // makes five full tiles and a partial one
const removedEntries = 3 * 256;

const createLedger = async (): Promise<TiledLedger> => {
  const ledger = createTiledLedger({ DEV_KEPT_TILES: String(keptTiles) });
  await ledger.grow(0, size);
  return ledger;
};

const createRemovedLedger = async (): Promise<TiledLedger> => {
  const ledger = await createLedger();
  await ledger.runAlarm();
  return ledger;
};

const countRows = ({ withObject }: TiledLedger): Promise<{ readonly leaves: number; readonly tiles: number }> =>
  withObject((_, { sql }) =>
    sql
      .exec<{ leaves: number; tiles: number }>(
        "SELECT (SELECT COUNT(*) FROM leaf) AS leaves, (SELECT COUNT(*) FROM tile WHERE level = 0) AS tiles",
      )
      .one(),
  );
const allRows = { leaves: size, tiles: 6 };
const remainingRows = { leaves: size - removedEntries, tiles: 3 };

/** Moves the clock past the longest wait between two attempts. */
const skipRetryDelay = (): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 16 * minuteMs });
};

const paths = [
  ...["tile/0/000", "tile/0/000.p/7", "tile/0/002.p/255", "tile/0/003", "tile/0/005.p/20", "tile/0/005", "tile/1/000.p/5", "tile/0/006"],
  ...["tile/entries/000", "tile/entries/001.p/3", "tile/entries/004", "tile/entries/005.p/20", "tile/entries/006"],
  ...[0, 255, 256, 700, 767, 768, 1_299].map((index) => `proof?index=${index}&size=${size}`),
  ...["proof?index=3&size=300", "proof?index=299&size=300", "proof?index=1300", "proof?index=3&size=301"],
];
const oldPaths = ["tile/0/000", "tile/0/000.p/7", "tile/entries/000", "tile/entries/001.p/3", "proof?index=3"];
const recentPaths = ["tile/0/003", "tile/0/005.p/20", "tile/1/000.p/5", "tile/entries/004", "proof?index=1200", "checkpoint"];

const readAll = async ({ call }: TiledLedger) => {
  const responses = new Map<string, object>();
  for (const path of paths)
    for (const method of ["GET", "HEAD"]) {
      const { status, headers, bytes } = await call(path, { method, headers: auditorHeaders });
      responses.set(`${method} ${path}`, { status, headers: Object.fromEntries(headers), body: toHex(bytes) });
    }
  return responses;
};

const readStatuses = async ({ call }: TiledLedger, from: readonly string[]): Promise<number[]> => {
  const statuses: number[] = [];
  for (const path of from) statuses.push((await call(path, { headers: auditorHeaders })).status);
  return statuses;
};

/** Expects the log to append, sign and prove new entries, and to return the earlier index when an old entry is added again. */
const expectLogContinues = async (ledger: TiledLedger): Promise<void> => {
  await ledger.grow(size, size + 10);
  expect((await ledger.call("add", buildPost(buildEntry(3)))).text).toBe("3");
  expect((await ledger.call(`proof?index=${size + 9}`)).status).toBe(200);
  expect(await readStatuses(ledger, recentPaths)).toEqual(recentPaths.map(() => 200));
};

describe("a ledger whose old tiles are only in R2", () => {
  test("returns the same responses as before, and keeps only the newest tiles and entries", async () => {
    const ledger = createTiledLedger({ DEV_KEPT_TILES: String(keptTiles) });
    ledger.useBucket(undefined);
    await ledger.grow(0, 300);
    await ledger.grow(300, size);
    const before = await readAll(ledger);
    expect(await countRows(ledger)).toEqual(allRows);
    ledger.useBucket(tileBucket);
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(remainingRows);
    expect(await readAll(ledger)).toEqual(before);
    await expectLogContinues(ledger);
  });

  test("refuses entries to readers without the auditor's token, as before", async () => {
    const ledger = await createRemovedLedger();
    expect((await ledger.call("tile/entries/000")).status).toBe(401);
  });

  test("does not freeze when it is compared with a tree whose edge is only in R2", async () => {
    const ledger = await createRemovedLedger();
    await ledger.withObject((log) => {
      expect(() => log.checkHighwater("300", "00".repeat(32))).toThrow("only in R2");
      expect(log.getState().frozen).toBeNull();
    });
    await expectLogContinues(ledger);
  });
});

describe("while R2 cannot return an old tile", () => {
  test.each([
    ["is down", failingBucket],
    ["has lost it", createBucketWith({ get: async () => null })],
    ["has no binding", undefined],
  ])("because it %s, old proofs can be retried and everything else continues", async (_, bucket) => {
    vi.spyOn(console, "error").mockReturnValue();
    const ledger = await createRemovedLedger();
    ledger.useBucket(bucket);
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 503));
    const { headers } = await ledger.call("tile/0/000");
    expect([headers.get("retry-after"), headers.get("cache-control")]).toEqual(["30", "no-store"]);
    await expectLogContinues(ledger);
    ledger.useBucket(tileBucket);
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 200));
  });

  test.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ["a changed byte", (bytes) => bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte))],
    ["half of it", (bytes) => bytes.subarray(0, bytes.length / 2)],
    ["an empty object", () => new Uint8Array(0)],
  ])("because it returns %s, the bytes are not used and an error is logged", async (_, spoil) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const ledger = await createRemovedLedger();
    const get = async (original: (...values: unknown[]) => Promise<unknown>, key: unknown) => {
      const object = (await original(key)) as R2ObjectBody;
      const bytes = spoil(new Uint8Array(await object.arrayBuffer()));
      return { arrayBuffer: async () => bytes.slice().buffer };
    };
    ledger.useBucket(createBucketWith({ get }));
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 503));
    expect(error.mock.calls.filter(([line]) => String(line).includes('"at":"log-tiles.read"'))).toHaveLength(oldPaths.length);
    await expectLogContinues(ledger);
  });

  test("because it returns the tile of another path, the tile is not used", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ledger = await createRemovedLedger();
    const get = (original: (...values: unknown[]) => Promise<unknown>, key: unknown) => original(String(key).replace(/\d{3}$/, "002"));
    ledger.useBucket(createBucketWith({ get }));
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 503));
  });
});

describe("before a ledger deletes a tile", () => {
  test("a ledger without a bucket keeps everything", async () => {
    const ledger = createTiledLedger({ DEV_KEPT_TILES: String(keptTiles) });
    ledger.useBucket(undefined);
    await ledger.grow(0, size);
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(allRows);
  });

  test("the ledger uploads a tile again if R2 has lost it", async () => {
    const ledger = await createLedger();
    const lost = `${ledger.origin}/tile/0/001`;
    const state = { hasLost: false };
    ledger.useBucket(
      createBucketWith({
        get: async (get, ...values) => {
          if (!state.hasLost && values[0] === lost) {
            state.hasLost = true;
            await tileBucket.delete(lost);
          }
          return get(...values);
        },
      }),
    );
    await ledger.runAlarm();
    expect(state.hasLost).toBe(true);
    expect(await countRows(ledger)).toEqual(remainingRows);
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 200));
    expect((await ledger.call("tile/0/001")).status).toBe(200);
  });

  test.each(["tile/0/000", "tile/entries/000"])("the ledger keeps a tile if R2 has other bytes at %s", async (path) => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const ledger = await createLedger();
    const get = async (original: (...values: unknown[]) => Promise<unknown>, key: unknown) =>
      key === `${ledger.origin}/${path}` ? { arrayBuffer: async () => new ArrayBuffer(8_192) } : original(key);
    ledger.useBucket(createBucketWith({ get }));
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(allRows);
    expect(error.mock.calls.join()).toContain(`TileConflict: R2 has other bytes at ${path}`);
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 200));
    ledger.useBucket(tileBucket);
    skipRetryDelay();
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(remainingRows);
  });

  test("an object that dies after it has read a tile back has deleted nothing, and deletes it later", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ledger = await createLedger();
    ledger.useBucket(
      createBucketWith({
        get: async (get, ...values) => {
          await get(...values);
          throw new Error("the object died");
        },
      }),
    );
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(allRows);
    ledger.useBucket(tileBucket);
    skipRetryDelay();
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(remainingRows);
  });

  test("a deletion that fails halfway deletes nothing", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const ledger = await createLedger();
    await ledger.withObject((_, { sql }) => sql.exec("CREATE TRIGGER broken BEFORE DELETE ON tile BEGIN SELECT RAISE(ABORT, 'no'); END"));
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(allRows);
    expect(await readStatuses(ledger, oldPaths)).toEqual(oldPaths.map(() => 200));
    await ledger.withObject((_, { sql }) => sql.exec("DROP TRIGGER broken"));
    skipRetryDelay();
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(remainingRows);
  });

  test("a frozen ledger keeps everything", async () => {
    const ledger = await createLedger();
    await ledger.withObject((log) => log.checkHighwater("9999", "00".repeat(32)));
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(allRows);
  });
});

describe("an object that was reset to an earlier state", () => {
  const tables = ["leaf", "leaf_key", "tile", "checkpoint", "meta"];
  const copyState = ({ withObject }: TiledLedger) =>
    withObject((_, { sql }) => tables.map((table) => ({ table, rows: [...sql.exec(`SELECT * FROM ${table}`).raw()] })));
  const resetTo = ({ withObject }: TiledLedger, state: Awaited<ReturnType<typeof copyState>>) =>
    withObject((_, { sql }) => {
      for (const { table, rows } of state) {
        sql.exec(`DELETE FROM ${table}`);
        for (const row of rows) sql.exec(`INSERT INTO ${table} VALUES (${row.map(() => "?").join(", ")})`, ...row);
      }
    });

  test("from before the upload uploads the same bytes again and deletes the tiles again", async () => {
    const ledger = await createLedger();
    const earlier = await copyState(ledger);
    await ledger.runAlarm();
    const listVersions = async () => (await tileBucket.list({ prefix: ledger.origin })).objects.map(({ key, version }) => [key, version]);
    const before = await listVersions();
    await resetTo(ledger, earlier);
    expect(await countRows(ledger)).toEqual(allRows);
    await ledger.runAlarm();
    expect(await countRows(ledger)).toEqual(remainingRows);
    expect(await listVersions()).toEqual(before);
    await expectLogContinues(ledger);
  });

  test("and then got other entries keeps its tiles, and does not change those of the first history", async () => {
    const error = vi.spyOn(console, "error").mockReturnValue();
    const ledger = createTiledLedger({ DEV_KEPT_TILES: "1" });
    await ledger.grow(0, 200);
    const earlier = await copyState(ledger);
    await ledger.grow(200, 800);
    await ledger.runAlarm();
    const published = await listStoredTiles(ledger.origin);
    await resetTo(ledger, earlier);
    for (let at = 200; at < 800; at += 1) await ledger.call("add", buildPost(`another ${at}`));
    await ledger.grow(800, 810);
    await ledger.runAlarm();
    expect(error.mock.calls.join()).toContain("TileConflict");
    expect((await countRows(ledger)).leaves).toBe(810);
    expect(await listStoredTiles(ledger.origin)).toEqual(published);
  });
});
