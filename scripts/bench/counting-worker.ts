// The Worker of `npm run bench -- --only rows`. It runs the whole service and counts the rows that D1 reports as written. Durable Objects
// also write to D1 and run in the same isolate, so one counter covers everything.
import worker, * as service from "../../workers/index.ts";
import type { Env } from "../../workers/env.ts";
import { createBindingWrapper, wrapClass } from "../wrapped-service.ts";

/**
 * The number of rows written since the counter was last read, by verb and table of the statement. Rows that a trigger writes count toward
 * the statement that fired the trigger.
 */
let written: Record<string, number> = {};

const count = (sql: string, { meta }: D1Result): void => {
  if (meta.rows_written === 0) return;
  const [, verb = "other", table = ""] = /^\s*(\w+) (?:or ignore )?(?:into |from )?"?(\w+)/i.exec(sql) ?? [];
  const key = `${verb.toLowerCase()} ${table}`;
  written[key] = (written[key] ?? 0) + meta.rows_written;
};

/** A D1 statement that counts the rows that it writes. */
class CountedStatement {
  readonly sql: string;
  readonly statement: D1PreparedStatement;

  constructor(sql: string, statement: D1PreparedStatement) {
    this.sql = sql;
    this.statement = statement;
  }
  bind(...values: unknown[]): CountedStatement {
    return new CountedStatement(this.sql, this.statement.bind(...values));
  }
  async all(): Promise<D1Result> {
    const result = await this.statement.all();
    count(this.sql, result);
    return result;
  }
  run(): Promise<D1Result> {
    return this.all();
  }
  async first(): Promise<unknown> {
    return (await this.all()).results[0] ?? null;
  }
  /**
   * Runs a write with `all`, because the platform's `raw` reports no counts. Runs a read with `raw`, because a read can return two columns
   * with the same name, which `all` would merge.
   */
  async raw(): Promise<unknown[]> {
    if (/^\s*(?:select|with)\b/i.test(this.sql)) return this.statement.raw();
    return (await this.all()).results.map((row) => Object.values(row as object));
  }
}

const countWrites = (binding: D1Database | D1DatabaseSession): D1Database => {
  const counted = {
    prepare: (sql: string) => new CountedStatement(sql, binding.prepare(sql)),
    batch: async (statements: readonly CountedStatement[]) => {
      const results = await binding.batch(statements.map(({ statement }) => statement));
      for (const [at, result] of results.entries()) count(statements[at]?.sql ?? "", result);
      return results;
    },
    withSession: (constraint: D1SessionConstraint) => countWrites((binding as D1Database).withSession(constraint)),
  };
  return counted as unknown as D1Database;
};

const withCounting = createBindingWrapper((env) => ({ ...env, DB: countWrites(env.DB) }));

export const AuditLog = wrapClass(service.AuditLog, withCounting);
export const EventSequence = wrapClass(service.EventSequence, withCounting);
export const IntakeJournal = wrapClass(service.IntakeJournal, withCounting);
export const DeliveryQueue = wrapClass(service.DeliveryQueue, withCounting);
export const DestinationHost = wrapClass(service.DestinationHost, withCounting);
export const LedgerLog = wrapClass(service.LedgerLog, withCounting);
export const RateLimiter = wrapClass(service.RateLimiter, withCounting);

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname !== "/bench/rows-written") return worker.fetch(request, withCounting(env), ctx);
    const taken = written;
    written = {};
    return Response.json(taken);
  },
  scheduled: (controller: ScheduledController, env: Env) => worker.scheduled(controller, withCounting(env)),
  queue: (batch: MessageBatch, env: Env) => worker.queue(batch, withCounting(env)),
} satisfies ExportedHandler<Env>;
