// Makes calls that produce the refusals that many routes share: bad keys and bodies, exhausted limits, outages and internal errors. Tests
// compare the responses with the OpenAPI document.
import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { BoundedMap } from "../../core/bounded-map.ts";
import { IntakeState } from "../../core/intake/intake-state.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Shards } from "../../storage/shards.ts";
import { buildApp } from "../../workers/app.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import type { Platform } from "../../workers/platform/platform.ts";
import { createServicesWith } from "./changed-services.ts";
import { waitUntilSettled } from "./background-work.ts";
import { buildJsonPost } from "./withdrawal.ts";
import { call, origin, world, type TestResponse } from "./world.ts";

/** One call for each outcome. The key is the status of a success or the error code of a refusal. */
export type Scenarios = Readonly<Record<string, () => Promise<TestResponse>>>;

export const platform = await createPlatform(env);

/** Sends a request to the app on a changed platform, for conditions that a test cannot create through the API. */
export const callWith = async (changed: Partial<Platform>, path: string, init: RequestInit = {}): Promise<TestResponse> => {
  const execution = createExecutionContext();
  const response = await buildApp(createServicesWith(platform, changed)).fetch(new Request(`http://svc.test${path}`, init), env, execution);
  await waitOnExecutionContext(execution);
  if (changed.clock !== undefined) await waitUntilSettled(); // background work with a different clock may treat current emails and codes as expired
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: /^[[{]/.test(text) ? JSON.parse(text) : null };
};

const exhaustWindow = async () => ({ isAllowed: false, remaining: 0, resetMs: 1_500 });
export const createRateLimitedPlatform = (): Partial<Platform> => ({ takeApproximately: exhaustWindow, takeExactly: exhaustWindow });
const throwError = (error: Error) => (): never => {
  throw error;
};
const createFailingPlatform = (error: Error): Partial<Platform> => {
  const db = openDatabase({ prepare: throwError(error), batch: throwError(error) } as unknown as D1Database);
  const getShards = (): Shards => shards;
  const shards: Shards = {
    forId: () => db,
    get: () => db,
    hasShardOf: () => true,
    all: () => [["00" as never, db]],
    withQueryCounter: getShards,
    withTimeout: getShards,
  };
  // With an empty cache and no copy of an account in KV, every request depends on the failing database.
  const kv = { get: async () => null, put: async () => {} } as unknown as KVNamespace;
  return { shards, kv, cachedClients: new BoundedMap(1), intakeState: new IntakeState() };
};
export const createOutagePlatform = (): Partial<Platform> => createFailingPlatform(new Error("D1_ERROR: the database is away"));
export const createFaultyPlatform = (): Partial<Platform> => createFailingPlatform(new TypeError("a bug"));

const buildBearerRequest = (key: string): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });
/** Builds a POST request like one from a page of the business. */
export const buildPost = (body: unknown): RequestInit => buildJsonPost(body, { origin });
export const buildBearerHeader = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });
export const buildKeyedPost = (body: unknown, key = world.acme.keys.live): RequestInit => buildJsonPost(body, buildBearerHeader(key));

/** Lists the refusals that all routes with an API key share. With `body`, the calls are POST requests. */
export const listKeyRefusals = (at: () => string, body?: () => unknown, ofAcme = world.acme.keys.live): Scenarios => {
  const { suspended, closed } = world.examples;
  const buildRequest = (key: string): RequestInit => (body === undefined ? buildBearerRequest(key) : buildKeyedPost(body(), key));
  return {
    unauthorized: () => call(at(), buildRequest("sk_live_00wrong")),
    business_suspended: () => call(at(), buildRequest(suspended.keys.live)),
    business_inactive: () => call(at(), buildRequest(closed.keys.live)),
    rate_limited: () => callWith(createRateLimitedPlatform(), at(), buildRequest(ofAcme)),
    storage_unavailable: () => callWith(createOutagePlatform(), at(), buildRequest(ofAcme)),
    internal_error: () => callWith(createFaultyPlatform(), at(), buildRequest(ofAcme)),
  };
};
export const listBodyRefusals = (at: () => string, headers: Record<string, string> = {}): Scenarios => ({
  payload_too_large: () => call(at(), { ...buildJsonPost({}, headers), body: " ".repeat(256 * 1_024 + 1) }),
  unsupported_media_type: () => call(at(), buildJsonPost({}, { ...headers, "content-type": "text/plain" })),
});
export const listOutages = (at: () => string, init: RequestInit): Scenarios => ({
  rate_limited: () => callWith(createRateLimitedPlatform(), at(), init),
  storage_unavailable: () => callWith(createOutagePlatform(), at(), init),
  internal_error: () => callWith(createFaultyPlatform(), at(), init),
});

/** Sends two bodies with the same idempotency key and returns the second response. */
export const sendTwice = async (
  send: (body: object, headers: Record<string, string>) => Promise<TestResponse>,
  first: object,
  second: object,
) => {
  const key = { "idempotency-key": crypto.randomUUID() };
  await send(first, key);
  return send(second, key);
};

export const withHeaders = (init: RequestInit, headers: Record<string, string>): RequestInit => ({
  ...init,
  headers: { ...(init.headers as Record<string, string>), ...headers },
});
