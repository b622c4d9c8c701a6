// What brings about the answers that routes share, for the description of the API to be held against: refusals of keys and bodies,
// full limits, outages and mistakes of ours.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { BoundedMap } from "../../core/bounded-map.ts";
import { databaseOf } from "../../storage/database.ts";
import type { Homes } from "../../storage/homes.ts";
import { buildApp } from "../../workers/app.ts";
import type { Env } from "../../workers/env.ts";
import { openPlatform, type Platform } from "../../workers/services.ts";
import { changedServices } from "./changed-services.ts";
import { settled } from "./settled.ts";
import { jsonPost } from "./withdrawing.ts";
import { call, origin, world, type Answer } from "./world.ts";

/** An answer of each success, by status, and of each refusal, by code. */
export type Scenarios = Readonly<Record<string, () => Promise<Answer>>>;

export const platform = await openPlatform(env as unknown as Env);

/** The app on a platform that is changed in one way, to bring about what cannot be asked for from outside. */
export const answerOf = async (changed: Partial<Platform>, path: string, init: RequestInit = {}): Promise<Answer> => {
  const execution = createExecutionContext();
  const response = await buildApp(changedServices(platform, changed)).fetch(new Request(`http://svc.test${path}`, init), env, execution);
  await waitOnExecutionContext(execution);
  if (changed.clock !== undefined) await settled(); // by another clock mails and codes of the present may have expired
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: /^[[{]/.test(text) ? JSON.parse(text) : null };
};

const full = async () => ({ allowed: false, remaining: 0, resetMs: 1_500 });
export const crowded = (): Partial<Platform> => ({ takeByAddress: full, takeExactly: full });
const fails = (error: Error) => (): never => {
  throw error;
};
const failing = (error: Error): Partial<Platform> => {
  const db = databaseOf({ prepare: fails(error), batch: fails(error) } as unknown as D1Database);
  const homes: Homes = { of: () => db, at: () => db, all: () => [["00" as never, db]], counting: () => homes };
  // What an isolate remembers is asked for nothing here: the databases are what fails.
  return {
    homes,
    rememberedClients: new BoundedMap(1),
  };
};
export const outage = (): Partial<Platform> => failing(new Error("D1_ERROR: the database is away"));
export const bug = (): Partial<Platform> => failing(new TypeError("a mistake of ours"));

const bearer = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });
/** As a page of the business posts. */
export const post = (body: unknown): RequestInit => jsonPost(body, { origin });
export const bearerOf = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
/** A POST of the business whose key it is. */
export const keyed = (body: unknown, key = world.acme.keys.live): RequestInit => jsonPost(body, bearerOf(key));

/** The refusals that every route with an API key shares; `body` of one that is posted to. */
export const keyRefusals = (at: () => string, body?: () => unknown, ofAcme = world.acme.keys.live): Scenarios => {
  const { suspended, closed } = world.examples;
  const by = (key: string): RequestInit => (body === undefined ? bearer(key) : keyed(body(), key));
  return {
    unauthorized: () => call(at(), by("sk_live_00wrong")),
    business_suspended: () => call(at(), by(suspended.keys.live)),
    business_inactive: () => call(at(), by(closed.keys.live)),
    rate_limited: () => answerOf(crowded(), at(), by(ofAcme)),
    storage_unavailable: () => answerOf(outage(), at(), by(ofAcme)),
    internal_error: () => answerOf(bug(), at(), by(ofAcme)),
  };
};
export const bodyRefusals = (at: () => string, headers: Record<string, string> = {}): Scenarios => ({
  payload_too_large: () => call(at(), { ...jsonPost({}, headers), body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => call(at(), jsonPost({}, { ...headers, "content-type": "text/plain" })),
});
export const outages = (at: () => string, init: RequestInit): Scenarios => ({
  rate_limited: () => answerOf(crowded(), at(), init),
  storage_unavailable: () => answerOf(outage(), at(), init),
  internal_error: () => answerOf(bug(), at(), init),
});

/** The same key with one body and then with another. */
export const twice = async (send: (body: object, headers: Record<string, string>) => Promise<Answer>, first: object, second: object) => {
  const key = { "idempotency-key": crypto.randomUUID() };
  await send(first, key);
  return send(second, key);
};

export const changed = (init: RequestInit, headers: Record<string, string>): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), ...headers },
});
