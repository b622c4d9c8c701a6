// Adds the binding of a new shard to wrangler.toml, with a placeholder for the ID of its database. `npm run deploy` creates the database
// and uses its ID instead.
import { readFileSync, writeFileSync } from "node:fs";
import { getShardId, parseShardId, type ShardId } from "../core/ids.ts";

const databasePattern = /\[\[d1_databases\]\]\n(?:[^[\n].*\n)+/g;

/** Lists the shards that wrangler.toml binds, in the order of that file. */
const listBoundShards = (toml: string): readonly string[] =>
  [...toml.matchAll(/^binding = "DB(?:_([0-9a-z]{2}))?"/gm)].map(([, shard]) => shard ?? "00");

const findFreeShard = (bound: readonly string[]): ShardId => {
  for (let number = 1; ; number += 1) if (!bound.includes(getShardId(number))) return getShardId(number);
};

/**
 * Adds a shard to the configuration in `path` and returns its ID: `requestedId` or, if that is undefined, the first free ID. Throws if
 * `requestedId` is not a valid shard ID or is already bound.
 */
export const addShard = (path: string, requestedId: string | undefined): ShardId => {
  const toml = readFileSync(path, "utf8");
  const bound = listBoundShards(toml);
  const shard = requestedId === undefined ? findFreeShard(bound) : parseShardId(requestedId);
  if (shard === null) throw new Error("A shard is two characters: 0 to 9 and a to z without i, l, o and u.");
  if (bound.includes(shard)) throw new Error(`${path} already binds shard ${shard}.`);
  const last = [...toml.matchAll(databasePattern)].at(-1);
  if (last === undefined) throw new Error(`${path} binds no database.`);
  // A valid UUID, different for each shard.
  const placeholder = `00000000-0000-4000-8000-db${Buffer.from(shard).toString("hex").padStart(10, "0")}`;
  const block = `
[[d1_databases]]
binding = "DB_${shard}"
database_name = "svc-db-${shard}"
database_id = "${placeholder}"   # placeholder: npm run deploy creates the database and uses its ID
migrations_dir = "d1-migrations"
`;
  const end = last.index + last[0].length;
  writeFileSync(path, toml.slice(0, end) + block + toml.slice(end));
  return shard;
};
