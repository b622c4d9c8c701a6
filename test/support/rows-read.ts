// Counts the rows that each SQL statement reads, in D1 and in Durable Objects, for all code in this isolate. Not every D1 method returns
// this count, so this file observes the methods that the runtime uses to send queries.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";

export interface StatementRead {
  readonly sql: string;
  readonly rows: number;
}

interface SentQuery {
  readonly sql: string;
}
type Results = readonly { readonly meta: { readonly rows_read: number } }[];
/** The methods through which the runtime sends every query of every D1 binding. Which of them is used depends on the compatibility date. */
interface QuerySender {
  _queryOrThrow: (request: { readonly queries: readonly SentQuery[] }, ...rest: unknown[]) => Promise<Results>;
  _sendOrThrow: (path: string, sql: string | readonly string[], ...rest: unknown[]) => Promise<Results | Results[number]>;
}

const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

const observeDatabases = (record: (read: StatementRead) => void): (() => void) => {
  const sender = Object.getPrototypeOf(env.DB.withSession()) as QuerySender;
  const { _queryOrThrow: query, _sendOrThrow: send } = sender;
  const recordAll = (statements: readonly string[], results: Results): void => {
    for (const [at, sql] of statements.entries()) record({ sql, rows: results[at]?.meta.rows_read ?? 0 });
  };
  sender._queryOrThrow = async function (this: QuerySender, request, ...rest) {
    const results = await query.call(this, request, ...rest);
    recordAll(
      request.queries.map(({ sql }) => sql),
      results,
    );
    return results;
  };
  sender._sendOrThrow = async function (this: QuerySender, path, sql, ...rest) {
    const results = await send.call(this, path, sql, ...rest);
    recordAll(listOf(sql), listOf(results));
    return results;
  };
  return () => {
    Object.assign(sender, { _queryOrThrow: query, _sendOrThrow: send });
  };
};

type Execute = (sql: string, ...values: unknown[]) => SqlStorageCursor<Record<string, SqlStorageValue>>;

/** A cursor reads each row only when the caller requests it, so every method call on the cursor records the number of rows read so far. */
const observeCursor = (cursor: ReturnType<Execute>, sql: string, record: (read: StatementRead) => void): ReturnType<Execute> => {
  const recordRows = (): void => record({ sql, rows: cursor.rowsRead });
  recordRows();
  return new Proxy(cursor, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result = value.apply(target, args);
        recordRows();
        return result;
      };
    },
  });
};

const observeObjects = async (record: (read: StatementRead) => void): Promise<() => void> => {
  const anyObject = env.RATE_LIMITER.getByName("rows read");
  const prototype = await runInDurableObject(anyObject, (_, { storage }) => Object.getPrototypeOf(storage.sql) as { exec: Execute });
  const { exec } = prototype;
  prototype.exec = function (this: unknown, sql, ...values) {
    return observeCursor(exec.call(this, sql, ...values), sql, record);
  };
  return () => {
    prototype.exec = exec;
  };
};

export interface RowCounter {
  /** Returns the records since the last call. A statement in a Durable Object can have several records, each with the rows read so far. */
  readonly take: () => readonly StatementRead[];
  readonly stop: () => void;
}

/** Records every statement until `stop` is called. */
export const countRowsRead = async (): Promise<RowCounter> => {
  let reads: StatementRead[] = [];
  const record = (read: StatementRead): void => {
    reads.push(read);
  };
  const stops = [observeDatabases(record), await observeObjects(record)];
  return {
    take: () => {
      const taken = reads;
      reads = [];
      return taken;
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
};
