// An isolate that dies at a database round trip, before or after the statements of that round trip take effect. All of its pending work is
// lost.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { BoundedMap } from "../../core/bounded-map.ts";
import { backgroundTimeoutMs } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { buildApp } from "../../workers/app.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Services } from "../../workers/platform/platform.ts";
import type { Call } from "./world.ts";

/** When the isolate dies: at the first round trip after `trips` successful ones, before or after its statements take effect. */
export interface IsolateDeath {
  readonly trips: number;
  readonly written: "before" | "after";
}

export interface KillableIsolate {
  readonly services: Services;
  readonly call: Call;
  /** Starts the next isolate, which never dies if `death` is null. Call it only while no work of the previous isolate is running. */
  readonly begin: (death: IsolateDeath | null) => void;
  readonly isDead: () => boolean;
  /** Runs the background work that follows responses. Work that is still pending when the next isolate starts is lost. */
  readonly follow: () => Promise<void>;
}

export const createKillableIsolate = async (): Promise<KillableIsolate> => {
  const platform = await getPlatform(env);
  let tripsLeft = Number.POSITIVE_INFINITY;
  let written: IsolateDeath["written"] = "after";
  let isDead = false;
  let backgroundWork: (() => Promise<void>)[] = [];

  const makeTrip = async <T>(query: () => Promise<T>): Promise<T> => {
    if (!isDead && tripsLeft > 0) {
      tripsLeft -= 1;
      return query();
    }
    if (!isDead) {
      isDead = true;
      if (written === "after") await query().catch(() => {});
    }
    throw new Error("D1_ERROR: the isolate is gone");
  };

  const originals = new WeakMap<object, D1PreparedStatement>();
  const wrapStatement = (original: D1PreparedStatement): D1PreparedStatement => {
    const statement = new Proxy(original, {
      get: (_, name) => {
        if (name === "bind") return (...values: unknown[]) => wrapStatement(original.bind(...values));
        const value = Reflect.get(original, name);
        return typeof value === "function" ? (...args: unknown[]) => makeTrip(() => value.apply(original, args)) : value;
      },
    });
    originals.set(statement, original);
    return statement;
  };
  const wrapDatabase = <D extends D1Database | D1DatabaseSession>(original: D): D =>
    new Proxy(original, {
      get: (_, name) => {
        if (name === "prepare") return (sql: string) => wrapStatement(original.prepare(sql));
        if (name === "batch")
          return (statements: D1PreparedStatement[]) =>
            makeTrip(() => original.batch(statements.map((statement) => originals.get(statement) as D1PreparedStatement)));
        if (name === "withSession")
          return (constraint: D1SessionConstraint) => wrapDatabase((original as D1Database).withSession(constraint));
        return Reflect.get(original, name);
      },
    });

  const doNothing = (): void => {};
  const services: Services = {
    ...platform,
    shards: openShards({ DB: wrapDatabase(env.DB), DB_01: wrapDatabase(env.DB_01) }, backgroundTimeoutMs),
    cachedClients: new BoundedMap(1),
    log: { ...platform.log, error: doNothing },
    waitUntil: (work) => backgroundWork.push(work),
    // These functions only make work start earlier than the cron jobs would, and the test runs the cron jobs itself.
    scheduleFollowUp: doNothing,
    scheduleMail: doNothing,
    scheduleRelay: doNothing,
    scheduleEvents: doNothing,
  };
  const app = buildApp(services);
  return {
    services,
    call: async (path, init = {}) => {
      const response = await app.fetch(new Request(`http://svc.test${path}`, init), env, createExecutionContext());
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.includes("json") === true;
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
    },
    begin: (death) => {
      tripsLeft = death?.trips ?? Number.POSITIVE_INFINITY;
      written = death?.written ?? "after";
      isDead = false;
      backgroundWork = [];
    },
    isDead: () => isDead,
    follow: async () => {
      const works = backgroundWork;
      backgroundWork = [];
      for (const work of works) await work().catch(() => {});
    },
  };
};
