// A ledger that stores its full tiles in R2, and R2 buckets whose methods fail or are replaced. Each ledger has its own name and therefore
// its own tiles.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { LedgerEnv } from "../../durable-objects/ledger-log/access.ts";
import { LedgerLog } from "../../durable-objects/ledger-log/object.ts";
import { addBatch, createLedgerObject, settings, toLedgerResponse, waitForCheckpoint, type LedgerCall } from "./ledger.ts";

export const tileBucket = env.LOG_TILES;

export interface TiledLedger {
  /** The log's name. The keys of its tiles begin with it. */
  readonly origin: string;
  readonly call: LedgerCall;
  /** Creates the object again on the same storage, as after a crash, and calls `work` with it. */
  readonly withObject: <T>(work: (ledger: LedgerLog, storage: DurableObjectStorage) => T | Promise<T>) => Promise<T>;
  /** Uses a different bucket from now on. If it is undefined, the deployment has no bucket. */
  readonly useBucket: (bucket: R2Bucket | undefined) => void;
  /** Adds the entries from `from` to `to` (exclusive), and waits until they are signed. */
  readonly grow: (from: number, to: number) => Promise<void>;
  /** Runs the object's alarm, which uploads tiles. */
  readonly runAlarm: () => Promise<void>;
}

export const createTiledLedger = (change: LedgerEnv = {}): TiledLedger => {
  const stub = createLedgerObject();
  const path = crypto.randomUUID();
  const origin = `ledger.svc.test/ledger/${path}`;
  let bucket: R2Bucket | undefined = tileBucket;
  let alarmAt: number | null = null;
  // Only `runAlarm` runs the alarm. Otherwise, on a slow machine, the runtime could run it in the middle of a test.
  const alarmMethods: Pick<DurableObjectStorage, "getAlarm" | "setAlarm" | "deleteAlarm"> = {
    getAlarm: async () => alarmAt,
    setAlarm: async (at) => {
      alarmAt = Number(at);
    },
    deleteAlarm: async () => {
      alarmAt = null;
    },
  };
  const withObject: TiledLedger["withObject"] = (work) =>
    runInDurableObject(stub, async (_, state) => {
      Object.assign(state.storage, alarmMethods);
      const { LOG_TILES: _unused, ...others } = settings;
      const changed = { ...others, LEDGER_ORIGIN: origin, LEDGER_KEY: "", ...(bucket !== undefined && { LOG_TILES: bucket }), ...change };
      return work(new LedgerLog(state, changed), state.storage);
    });
  const call: LedgerCall = (place, init) =>
    withObject(async (ledger) => toLedgerResponse(await ledger.fetch(new Request(`http://ledger/ledger/${path}/${place}`, init as never))));
  return {
    origin,
    call,
    withObject,
    useBucket: (other) => {
      bucket = other;
    },
    grow: async (from, end) => {
      await addBatch(call, from, end);
      await waitForCheckpoint(call, end);
    },
    runAlarm: () => withObject((ledger) => ledger.alarm()),
  };
};

type BucketMethod = "get" | "put";

/** Returns a bucket whose methods can be replaced. A replacement gets the real bucket's method as `original`. */
export const createBucketWith = (
  changed: Partial<Record<BucketMethod, (original: (...values: unknown[]) => Promise<unknown>, ...values: unknown[]) => Promise<unknown>>>,
): R2Bucket =>
  new Proxy(tileBucket, {
    get: (_, name) => {
      const member = Reflect.get(tileBucket, name) as (...values: unknown[]) => Promise<unknown>;
      const original = member.bind(tileBucket);
      const replacement = changed[name as BucketMethod];
      return replacement === undefined ? original : (...values: unknown[]) => replacement(original, ...values);
    },
  });

export const failingBucket = createBucketWith({
  get: () => Promise.reject(new Error("R2 does not respond")),
  put: () => Promise.reject(new Error("R2 does not respond")),
});

/** Returns the bytes of every tile of a log in R2, by path. */
export const listStoredTiles = async (origin: string): Promise<Map<string, Uint8Array>> => {
  const { objects } = await tileBucket.list({ prefix: `${origin}/` });
  const tiles = new Map<string, Uint8Array>();
  for (const { key } of objects) {
    const object = await tileBucket.get(key);
    if (object !== null) tiles.set(key.slice(origin.length + 1), new Uint8Array(await object.arrayBuffer()));
  }
  return tiles;
};
