// An isolate that dies: at a round trip to a database, before the statements were run or after, and with it everything it was doing.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { BoundedMap } from "../../core/bounded-map.ts";
import { backgroundTimeoutMs } from "../../storage/database.ts";
import { openShards } from "../../storage/shards.ts";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import type { Services } from "../../workers/platform/platform.ts";
import type { Call } from "./world.ts";

/** How it ends: after so many round trips more. Infinity: it lives. */
export interface IsolateDeath {
  readonly trips: number;
  readonly written: "before" | "after";
}

export interface KillableIsolate {
  readonly services: Services;
  readonly call: Call;
  /** The next life. Call it when nothing of the last one is under way. */
  readonly begin: (death: IsolateDeath | null) => void;
  readonly isDead: () => boolean;
  /** Runs what is to follow the answers. What is left of it when a life begins is lost. */
  readonly follow: () => Promise<void>;
}

export const createKillableIsolate = async (): Promise<KillableIsolate> => {
  const platform = await getPlatform(env as unknown as Env);
  let left = Number.POSITIVE_INFINITY;
  let written: IsolateDeath["written"] = "after";
  let isDead = false;
  let following: (() => Promise<void>)[] = [];

  const trip = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (!isDead && left > 0) {
      left -= 1;
      return ask();
    }
    if (!isDead) {
      isDead = true;
      if (written === "after") await ask().catch(() => {});
    }
    throw new Error("D1_ERROR: the isolate is gone");
  };

  const originals = new WeakMap<object, D1PreparedStatement>();
  const statement = (of: D1PreparedStatement): D1PreparedStatement => {
    const mortal = new Proxy(of, {
      get: (_, name) => {
        if (name === "bind") return (...bound: unknown[]) => statement(of.bind(...bound));
        const value = Reflect.get(of, name);
        return typeof value === "function" ? (...rest: unknown[]) => trip(() => value.apply(of, rest)) : value;
      },
    });
    originals.set(mortal, of);
    return mortal;
  };
  const database = <D extends D1Database | D1DatabaseSession>(of: D): D =>
    new Proxy(of, {
      get: (_, name) => {
        if (name === "prepare") return (sql: string) => statement(of.prepare(sql));
        if (name === "batch")
          return (statements: D1PreparedStatement[]) =>
            trip(() => of.batch(statements.map((one) => originals.get(one) as D1PreparedStatement)));
        if (name === "withSession") return (constraint: D1SessionConstraint) => database((of as D1Database).withSession(constraint));
        return Reflect.get(of, name);
      },
    });

  const nothing = (): void => {};
  const services: Services = {
    ...platform,
    shards: openShards({ DB: database(env.DB), DB_01: database(env.DB_01) }, backgroundTimeoutMs),
    cachedClients: new BoundedMap(1),
    log: { ...platform.log, error: nothing },
    waitUntil: (work) => following.push(work),
    // What only makes things sooner is left to the crons, which the history runs.
    scheduleFollowUp: nothing,
    scheduleMail: nothing,
    scheduleRelay: nothing,
    scheduleEvents: nothing,
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
      left = death?.trips ?? Number.POSITIVE_INFINITY;
      written = death?.written ?? "after";
      isDead = false;
      following = [];
    },
    isDead: () => isDead,
    follow: async () => {
      const works = following;
      following = [];
      for (const work of works) await work().catch(() => {});
    },
  };
};
