// Full tiles of the transparency logs in R2. A tile's key consists of the log's name and the tile's public path (c2sp.org/tlog-tiles). A
// full tile never changes, so it is written once and never replaced.
import { areBytesEqual, concatBytes, encodeUtf8, toBase64 } from "../core/bytes.ts";
import { hmacSha256, isEqualConstantTime, type Bytes } from "../core/hash.ts";
import { deriveKeySeed, parseLogSeeds } from "../core/ledger/log-seed.ts";
import { formatTilePath, type TileLocation } from "../core/ledger/tiles.ts";
import { secondMs } from "../core/time.ts";
import { withDeadline } from "./database.ts";

export interface TileBucket {
  readonly bucket: R2Bucket;
  /** The name of the log. */
  readonly origin: string;
  /** The MAC keys for tile tags. New tiles use the first key. Without a log seed, the list is empty, and tiles have no tags. */
  readonly tagKeys: readonly Bytes[];
}

/**
 * Thrown if R2 has different bytes at a tile's path, or bytes without a valid tag. The operator of the log must decide which bytes are
 * right.
 */
export class TileConflict extends Error {
  constructor(key: string) {
    super(`R2 has other bytes at ${key}`);
    this.name = "TileConflict";
  }
}

const timeoutMs = 5 * secondMs; // R2 usually responds much faster, and a caller may be waiting for the tile

/** Opens a log's part of the bucket. Returns null if the deployment has no bucket. `logSeed` is the setting LOG_SEED. */
export const openTileBucket = (bucket: R2Bucket | undefined, logSeed: string | undefined, origin: string): TileBucket | null =>
  bucket === undefined
    ? null
    : {
        bucket,
        origin,
        // The names of logs and witnesses contain no spaces, so this name cannot collide with the name of another key.
        tagKeys: (parseLogSeeds(logSeed) ?? []).map(({ seed }) => deriveKeySeed(seed, `tiles of ${origin}`)),
      };

const toKey = ({ origin }: TileBucket, location: TileLocation): string => `${origin}/${formatTilePath(location)}`;

const computeTag = (tagKey: Uint8Array, key: string, bytes: Uint8Array): string =>
  toBase64(hmacSha256(tagKey, concatBytes(encodeUtf8(`${key}\n`), bytes)));

const findObject = async (
  tiles: TileBucket,
  location: TileLocation,
): Promise<{ readonly bytes: Bytes; readonly tag: string | undefined } | null> =>
  withDeadline(async () => {
    const object = await tiles.bucket.get(toKey(tiles, location));
    return object === null ? null : { bytes: new Uint8Array(await object.arrayBuffer()), tag: object.customMetadata?.tag };
  }, timeoutMs);

/** Returns the bytes at a tile's path without checking them, or null. Throws if R2 fails or does not respond. */
export const findTile = async (tiles: TileBucket, location: TileLocation): Promise<Bytes | null> =>
  (await findObject(tiles, location))?.bytes ?? null;

/**
 * Returns a tile, or null if there is none. Throws TileConflict if the tile has no valid tag. A tag is a MAC over the log's name, the path
 * and the bytes, so a tile that was changed or moved has no valid tag. Also throws if R2 fails or does not respond.
 */
export const findTaggedTile = async (tiles: TileBucket, location: TileLocation): Promise<Bytes | null> => {
  const object = await findObject(tiles, location);
  if (object === null) return null;
  const key = toKey(tiles, location);
  const { bytes, tag = "" } = object;
  if (tiles.tagKeys.some((tagKey) => isEqualConstantTime(computeTag(tagKey, key, bytes), tag))) return bytes;
  throw new TileConflict(key);
};

/** Stores a tile unless R2 already has it. Throws TileConflict if R2 has different bytes. Also throws if R2 fails or does not respond. */
export const putTile = async (tiles: TileBucket, location: TileLocation, bytes: Bytes): Promise<void> => {
  const key = toKey(tiles, location);
  const [tagKey] = tiles.tagKeys;
  const options: R2PutOptions = {
    onlyIf: { etagDoesNotMatch: "*" },
    ...(tagKey !== undefined && { customMetadata: { tag: computeTag(tagKey, key, bytes) } }),
  };
  const stored: R2Object | null = await withDeadline(() => tiles.bucket.put(key, bytes, options), timeoutMs);
  if (stored === null) await assertStored(tiles, location, bytes);
};

const assertStored = async (tiles: TileBucket, location: TileLocation, bytes: Uint8Array): Promise<void> => {
  const stored = await findTile(tiles, location);
  if (stored === null || !areBytesEqual(stored, bytes)) throw new TileConflict(toKey(tiles, location));
};
