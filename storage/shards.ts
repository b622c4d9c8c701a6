// Which database holds a record. Every id, key, token and client id carries the code of its home, so that whatever
// arrives from outside finds its database without a look-up. This is the only place that turns a code into a database.
import { firstShard, shardOfId, type ShardId } from "../core/ids.ts";
import { openDatabase, type QueryCounter, type Database } from "./database.ts";

export interface Shards {
  /** The database of an id or secret. What names no home there is, is looked for in the first, where nothing has such an id. */
  readonly forId: (id: string) => Database;
  /** Throws for a home that no database has: what was written down of it is not lost for being out of reach. */
  readonly get: (home: ShardId) => Database;
  readonly all: () => readonly (readonly [ShardId, Database])[];
  /** The same databases, which tell how many queries they are asked. */
  readonly withQueryCounter: (count: QueryCounter) => Shards;
}

const bindingPattern = /^DB(?:_([0-9a-hjkmnp-tv-z]{2}))?$/;

type ShardBindings = readonly (readonly [ShardId, D1Database])[];

const buildShards = (bindings: ShardBindings, maxMs: number | undefined, count: QueryCounter): Shards => {
  const databases = new Map(bindings.map(([home, binding]) => [home, openDatabase(binding, maxMs, count)] as const));
  const at = (home: ShardId): Database => {
    const db = databases.get(home);
    if (db === undefined) throw new Error("homes: no database has this home");
    return db;
  };
  return {
    forId: (id) => databases.get(shardOfId(id)) ?? at(firstShard),
    get: at,
    all: () => [...databases],
    withQueryCounter: (also) =>
      buildShards(bindings, maxMs, (queries) => {
        count(queries);
        also(queries);
      }),
  };
};

/** Binding `DB` is home `00`; a further home `xy` is the binding `DB_xy`. */
export const openShards = (env: object, maxMs?: number, count: QueryCounter = () => {}): Shards => {
  const bindings = Object.entries(env).flatMap(([name, binding]) => {
    const match = bindingPattern.exec(name);
    return match === null ? [] : [[(match[1] ?? firstShard) as ShardId, binding as D1Database] as const];
  });
  return buildShards(bindings, maxMs, count);
};
