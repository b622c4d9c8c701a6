// Which database holds a record. Every id, key, token and client id carries the code of its home, so that whatever
// arrives from outside finds its database without a look-up. This is the only place that turns a code into a database.
import { firstHome, homeOfId, type Home } from "../core/ids.ts";
import { databaseOf, type CountQueries, type Database } from "./database.ts";

export interface Homes {
  /** The database of an id or secret. What names no home there is, is looked for in the first, where nothing has such an id. */
  readonly of: (id: string) => Database;
  /** Throws for a home that no database has: what was written down of it is not lost for being out of reach. */
  readonly at: (home: Home) => Database;
  readonly all: () => readonly (readonly [Home, Database])[];
  /** The same databases, which tell how many queries they are asked. */
  readonly counting: (count: CountQueries) => Homes;
}

const bindingPattern = /^DB(?:_([0-9a-hjkmnp-tv-z]{2}))?$/;

type Bindings = readonly (readonly [Home, D1Database])[];

const opened = (bindings: Bindings, maxMs: number | undefined, count: CountQueries): Homes => {
  const databases = new Map(bindings.map(([home, binding]) => [home, databaseOf(binding, maxMs, count)] as const));
  const at = (home: Home): Database => {
    const db = databases.get(home);
    if (db === undefined) throw new Error("homes: no database has this home");
    return db;
  };
  return {
    of: (id) => databases.get(homeOfId(id)) ?? at(firstHome),
    at,
    all: () => [...databases],
    counting: (also) =>
      opened(bindings, maxMs, (queries) => {
        count(queries);
        also(queries);
      }),
  };
};

/** Binding `DB` is home `00`; a further home `xy` is the binding `DB_xy`. */
export const homesOf = (env: object, maxMs?: number, count: CountQueries = () => {}): Homes => {
  const bindings = Object.entries(env).flatMap(([name, binding]) => {
    const match = bindingPattern.exec(name);
    return match === null ? [] : [[(match[1] ?? firstHome) as Home, binding as D1Database] as const];
  });
  return opened(bindings, maxMs, count);
};
