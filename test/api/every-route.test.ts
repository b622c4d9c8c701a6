// Tests rules that apply to every route in the OpenAPI document: who may call it and how it responds. A new route is tested as soon as the
// document describes it. Also tests the health check and the published keys.
import { deriveLogVkey } from "../support/note-keys.ts";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { firstShard, generateSecret, type ShardId } from "../../core/ids.ts";
import { keyKinds, createVerifierKey, formatVkey } from "../../core/ledger/note.ts";
import type { DemoBusiness } from "../../scripts/demo-world.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import {
  call,
  readDatabaseContents,
  createEntryCall,
  getWithKey,
  issueCertificate,
  createServiceCall,
  buildSubmission,
  world,
  worldInSecondShard,
  type TestResponse,
} from "../support/world.ts";
import { stopClock } from "../support/stopped-clock.ts";
import { buildDecision, createVerifier, grantShare, signInPerson } from "../support/sharing.ts";
import { fillPath, unknownRecords } from "../support/unknown-records.ts";

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly needsKey: boolean;
  readonly needsSession: boolean;
  readonly takesSession: boolean;
  readonly parameters: readonly string[];
}
interface Described {
  readonly security?: readonly Record<string, unknown>[];
}

/** Returns true if the caller must use this security scheme. */
const requiresScheme = (security: Described["security"], name: string): boolean =>
  security !== undefined && security.length > 0 && security.every((scheme) => name in scheme);

let operations: readonly Operation[] = [];
let ownCertId = "";
/** Two shares between one person and acme. Some routes succeed only for an active share, others only for a revoked one. */
let activeShareId = "";
let stoppedShareId = "";
const revokedKey = generateSecret("sk_live_", "00" as ShardId, (count) => crypto.getRandomValues(new Uint8Array(count)));

// The tests share API keys, so each test runs in its own minute. Otherwise, earlier tests could use up a key's limit.
let minute = Date.now();
beforeEach(() => {
  minute += 61_000;
  stopClock(minute);
});

beforeAll(async () => {
  const { paths } = (await getWithKey("/v1/openapi.json")).body as { paths: Record<string, Record<string, Described>> };
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => ({
      method: method.toUpperCase(),
      path,
      needsKey: requiresScheme(security, "apiKey"),
      needsSession: requiresScheme(security, "session"),
      takesSession: security?.some((scheme) => "session" in scheme) === true,
      parameters: [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name as string),
    })),
  );
  // This certificate names only a recipient without an account, because a recipient with an account could call the match route.
  const ofNobody = { entities: ["Nobody Else Ltd"] };
  ownCertId = (await issueCertificate(ofNobody)).cert_id;
  await call(`/v1/certs/${ownCertId}/withdrawals`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${world.acme.keys.live}` },
    body: JSON.stringify({ method: "phone", received_at: new Date().toISOString() }),
  });
  const pat = await signInPerson();
  activeShareId = (await grantShare(pat)).share.id;
  stoppedShareId = (await grantShare(pat)).share.id;
  await pat.post(`/v1/shares/${stoppedShareId}/revoke`, {});
  await env.DB.prepare(
    "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at, revoked_at) VALUES ('key_revoked', ?, 'live', ?, 'x', 'xxxx', 0, 1)",
  )
    .bind(world.acme.id, sha256Hex(revokedKey))
    .run();
});

/**
 * Values for the path parameters. `cert_id` and `share_id` identify records that acme's API key can read. All other parameters use the
 * value in `unknownRecords`, so a route with a new parameter needs an entry there.
 */
const getOwnRecords = (): Record<string, string> => ({ ...unknownRecords, cert_id: ownCertId, share_id: activeShareId });
/** A certificate can be withdrawn only once, so each successful call needs its own active certificate. */
const activeCertIds: string[] = [];
const getRecordsFor = ({ path }: Operation): Record<string, string> => {
  if (path.endsWith("/withdrawals")) return { cert_id: activeCertIds.pop() ?? ownCertId };
  return path === "/v1/shares/{share_id}/cease-ack" ? { share_id: stoppedShareId } : getOwnRecords();
};

/** Request bodies for the routes that do not take a submission. */
const bodies: readonly (readonly [path: RegExp, body: () => unknown])[] = [
  [/\/withdrawals$/, () => ({ method: "phone", received_at: new Date().toISOString() })],
  [/\/cease-ack$/, () => ({})],
  [/\/match$/, () => ({ email: "pat@example.com" })],
  [/\/search$/, () => ({})],
  [/\/contact-check$/, () => ({ subjects: [{ email: "pat@example.com" }] })],
  [/\/(?:revoke|sever\/\{share_id\})$/, () => ({ reason: "Found another provider" })],
  [/\/renew$/, () => ({ consent: true })],
  [/\/share\/requests$/, () => ({ ...buildDecision(createVerifier()), scope: "email" })],
  [/\/share\/consent$/, () => buildDecision(createVerifier())],
  [/\/share\/sandbox-consent$/, () => buildDecision(createVerifier(), { client_id: world.acme.clients.sandbox })],
  [/\/share\/redeem$/, () => ({ code: `ac_00${"A".repeat(43)}`, code_verifier: createVerifier(), client_id: world.acme.clients.live })],
  [/\/me$/, () => ({})],
  [/\/me\/certificates\/withdraw$/, () => ({ scope: "everything" })],
  [/\/me\/removals$/, () => ({ authorize: true })],
  [/\/me\/fields$/, () => ({ phone: "+1 202 555 0199" })],
  [/\/sandbox\/clock$/, () => ({ advance_seconds: 60 })],
  [/\/sandbox\/trigger$/, () => ({ type: "share.created" })],
];
const buildBodyFor = ({ path }: Operation): unknown => bodies.find(([pattern]) => pattern.test(path))?.[1]() ?? buildSubmission();
const queryFor = ({ path }: Operation): string => {
  if (path !== "/v1/authorize") return "";
  const { client_id, origin, purpose, code_challenge } = buildDecision("A".repeat(43));
  return `?${new URLSearchParams({ client_id, origin, purpose, code_challenge, code_challenge_method: "S256", scope: "email" })}`;
};
/** Routes that work while a payment is due. Reading changes nothing, and withdrawing is the person's right. */
const worksPastDue = /\/(?:withdrawals|match|contact-check|search)$/;
const requestTo = (
  operation: Operation,
  headers: Record<string, string> = {},
  query = queryFor(operation),
  records = getRecordsFor(operation),
): Promise<TestResponse> =>
  call(`${fillPath(operation.path, records)}${query}`, {
    method: operation.method,
    headers: { ...(operation.method !== "GET" && { "content-type": "application/json" }), origin: "https://www.example.com", ...headers },
    ...(operation.method !== "GET" && { body: JSON.stringify(buildBodyFor(operation)) }),
  });
const formatOperationName = ({ method, path }: Operation): string => `${method} ${path}`;
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;
/** Sandbox routes accept only a test key. */
const getOwnKey = ({ path }: Operation): string => world.acme.keys[path.startsWith("/v1/sandbox/") ? "sandbox" : "live"];
const listKeyedOperations = (): readonly Operation[] => operations.filter(({ needsKey }) => needsKey);
/** Collects the faults of all routes, each with the name of its route. */
const collectFaults = async (
  routes: readonly Operation[],
  faultOf: (operation: Operation) => Promise<string | null>,
): Promise<string[]> => {
  const faults: string[] = [];
  for (const operation of routes) {
    const fault = await faultOf(operation);
    if (fault !== null) faults.push(`${formatOperationName(operation)}: ${fault}`);
  }
  return faults;
};
const expectOutcome = (expected: string, response: TestResponse): string | null =>
  describeOutcome(response) === expected ? null : `${describeOutcome(response)} instead of ${expected}`;

describe("every route that needs an API key", () => {
  test("is in the OpenAPI document", () => {
    expect(listKeyedOperations().map(formatOperationName)).toEqual(
      expect.arrayContaining(["GET /v1/certs", "GET /v1/certs/{cert_id}", "GET /v1/certs/{cert_id}/evidence-pack"]),
    );
  });

  const key = world.acme.keys.live;
  const wrong: readonly (readonly [name: string, headers: Record<string, string>, query?: string])[] = [
    ["no credential", {}],
    ["an empty key", { authorization: "Bearer " }],
    ["only the scheme", { authorization: "Bearer" }],
    ["the key without a scheme", { authorization: key }],
    ["another scheme", { authorization: `Basic ${btoa(`${key}:`)}` }],
    ["a token scheme", { authorization: `Token ${key}` }],
    ["an unknown key", { authorization: `Bearer ${generateSecret("sk_live_", "00" as ShardId, (count) => new Uint8Array(count))}` }],
    ["a key of an unknown shard", { authorization: `Bearer ${key.replace("sk_live_00", "sk_live_zz")}` }],
    ["a key with another shard", { authorization: `Bearer ${key.replace("sk_live_00", "sk_live_01")}` }],
    ["a live key relabeled as a test key", { authorization: `Bearer ${key.replace("sk_live_", "sk_test_")}` }],
    ["a revoked key", { authorization: `Bearer ${revokedKey}` }],
    ["a key that is too short", { authorization: `Bearer ${key.slice(0, -1)}` }],
    ["a key that is too long", { authorization: `Bearer ${key}A` }],
    ["a key in upper case", { authorization: `Bearer ${key.toUpperCase()}` }],
    ["two keys", { authorization: `Bearer ${key}, Bearer ${key}` }],
    ["a key with text after it", { authorization: `Bearer ${key} x` }],
    ["the hash of a key", { authorization: `Bearer ${sha256Hex(key)}` }],
    ["an agent's token", { authorization: `Bearer ${key.replace("sk_live_", "pat_")}` }],
    ["a client id", { authorization: `Bearer ${world.acme.clients.live}` }],
    ["a key in the query", {}, `?api_key=${key}&access_token=${key}&key=${key}&authorization=Bearer%20${key}`],
    ["a key in a cookie", { cookie: `api_key=${key}; authorization=Bearer ${key}; svc_session=${key}` }],
    [
      "a key in other headers",
      { "x-api-key": key, "api-key": key, "proxy-authorization": `Bearer ${key}`, "x-authorization": `Bearer ${key}` },
    ],
  ];
  test.each(wrong.map(([name, headers, query = ""]) => ({ name, headers, query })))(
    "refuses $name with the same response",
    async ({ headers, query }) => {
      const bodies = new Set<string>();
      const faults = await collectFaults(listKeyedOperations(), async (operation) => {
        const response = await requestTo(operation, headers, query);
        bodies.add(response.text.replace(response.body.request_id, ""));
        if (response.headers.get("www-authenticate") !== "Bearer") return "has no WWW-Authenticate: Bearer";
        if (response.headers.has("access-control-allow-origin")) return "is readable by a page";
        return expectOutcome("401 unauthorized", response);
      });
      expect(faults).toEqual([]);
      expect(bodies.size).toBe(1);
    },
  );

  test("returns 401 unauthorized without a key, even for an unknown record", async () => {
    expect(
      await collectFaults(listKeyedOperations(), async (operation) =>
        expectOutcome("401 unauthorized", await requestTo(operation, {}, "", unknownRecords)),
      ),
    ).toEqual([]);
  });

  const inState = async (status: string, change: (operation: Operation) => string | null): Promise<string[]> => {
    activeCertIds.push((await issueCertificate()).cert_id);
    await env.DB.prepare("UPDATE businesses SET status = ? WHERE id = ?").bind(status, world.acme.id).run();
    try {
      return await collectFaults(listKeyedOperations(), async (operation) => {
        const wanted = change(operation);
        const response = await requestTo(operation, { authorization: `Bearer ${getOwnKey(operation)}` });
        return wanted === null ? (response.status < 400 ? null : describeOutcome(response)) : expectOutcome(wanted, response);
      });
    } finally {
      await env.DB.prepare("UPDATE businesses SET status = 'active' WHERE id = ?").bind(world.acme.id).run();
    }
  };

  test.each<readonly [string, (operation: Operation) => string | null]>([
    ["active", () => null],
    ["suspended", () => "402 business_suspended"],
    ["closed", () => "402 business_inactive"],
    ["pending", () => "402 business_inactive"],
    ["past_due", ({ method, path }) => (method === "GET" || worksPastDue.test(path) ? null : "402 subscription_past_due")],
  ])("returns the expected status while the business is %s", async (status, wanted) => {
    expect(await inState(status, wanted)).toEqual([]);
  });

  const others: readonly (readonly [string, DemoBusiness])[] = [
    ["another business", world.other],
    ["a free business", world.examples.free],
    ["a business on the second shard", worldInSecondShard.acme],
  ];
  test.each(others)("returns the same 404 to %s for acme's records as for unknown ones", async (_name, business) => {
    const faults = await collectFaults(
      listKeyedOperations().filter(({ parameters }) => parameters.length > 0),
      async (operation) => {
        for (const credential of Object.values(business.keys)) {
          const foreign = await requestTo(operation, { authorization: `Bearer ${credential}` });
          const unknownAnswer = await requestTo(operation, { authorization: `Bearer ${credential}` }, "", unknownRecords);
          if (
            foreign.status !== 404 ||
            foreign.text.replace(foreign.body.request_id, "") !== unknownAnswer.text.replace(unknownAnswer.body.request_id, "")
          )
            return describeOutcome(foreign);
        }
        return null;
      },
    );
    expect(faults).toEqual([]);
  });

  test("returns 404 for live records to acme's own test key", async () => {
    const faults = await collectFaults(
      listKeyedOperations().filter(({ parameters }) => parameters.length > 0),
      async (operation) =>
        expectOutcome(
          operation.parameters.includes("cert_id") ? "404 cert_not_found" : "404 not_found",
          await requestTo(operation, { authorization: `Bearer ${world.acme.keys.sandbox}` }),
        ),
    );
    expect(faults).toEqual([]);
  });
});

describe("every route that needs a session", () => {
  const listSessionOperations = (): readonly Operation[] => operations.filter(({ needsSession }) => needsSession);

  test("is in the OpenAPI document", () => {
    expect(listSessionOperations().map(formatOperationName)).toEqual(
      expect.arrayContaining(["GET /v1/auth/session", "DELETE /v1/webhooks/{webhook_id}"]),
    );
  });

  const { keys } = world.acme;
  const unknown = `svc_session=ses_00${"A".repeat(43)}`;
  const wrong: readonly (readonly [name: string, headers: Record<string, string>, query?: string])[] = [
    ["no credential", {}],
    ["an unknown session", { cookie: unknown }],
    ["two session cookies", { cookie: `${unknown}; ${unknown}` }],
    ["an API key in the session cookie", { cookie: `svc_session=${keys.live}` }],
    ["an API key", { authorization: `Bearer ${keys.live}` }],
    ["a session under the production cookie name", { cookie: `__Host-${unknown}` }],
    ["a session in a header", { authorization: `Bearer ${unknown.slice(12)}`, "x-session": unknown }],
    ["a session in the query", {}, `?${unknown}`],
  ];
  test.each(wrong.map(([name, headers, query = ""]) => ({ name, headers, query })))(
    "refuses $name with the same response",
    async ({ headers, query }) => {
      const bodies = new Set<string>();
      const faults = await collectFaults(listSessionOperations(), async (operation) => {
        const response = await requestTo(operation, { ...headers, origin: "http://svc.test" }, query);
        bodies.add(response.text.replace(response.body.request_id, ""));
        return expectOutcome("401 unauthorized", response);
      });
      expect(faults).toEqual([]);
      expect(bodies.size).toBe(1);
    },
  );

  test("sends Vary: Origin, without repeating it, in its response to the app", async () => {
    const faults = await collectFaults(listSessionOperations(), async (operation) => {
      const vary = (await requestTo(operation, { origin: "http://svc.test" })).headers.get("vary");
      return vary === "Origin" ? null : `Vary: ${vary}`;
    });
    expect(faults).toEqual([]);
  });

  test("returns 403 csrf_failed for another site's request before it checks the session", async () => {
    const faults = await collectFaults(
      listSessionOperations().filter(({ method }) => method !== "GET"),
      async (operation) => expectOutcome("403 csrf_failed", await requestTo(operation, { origin: "https://evil.example" })),
    );
    expect(faults).toEqual([]);
  });

  test("returns the same 404 for another person's share as for an unknown one, and leaves the share unchanged", async () => {
    const sam = await signInPerson({});
    const shared = operations.filter(({ takesSession, parameters }) => takesSession && parameters.includes("share_id"));
    expect(shared.map(formatOperationName)).toEqual(
      expect.arrayContaining(["POST /v1/me/sever/{share_id}", "POST /v1/shares/{share_id}/revoke"]),
    );
    const { auditLogStub } = await getPlatform(env);
    await auditLogStub(firstShard).drainNow(); // otherwise the log could assign numbers to the entries between the two reads
    const before = await getWithKey(`/v1/shares/${activeShareId}`, world.acme.keys.live);
    const faults = await collectFaults(shared, async (operation) => {
      const headers = { ...sam.headers, origin: "http://svc.test" };
      const foreign = await requestTo(operation, headers);
      const unknownAnswer = await requestTo(operation, headers, "", unknownRecords);
      if (foreign.text.replace(foreign.body.request_id, "") !== unknownAnswer.text.replace(unknownAnswer.body.request_id, ""))
        return "differs from the answer for an unknown share";
      return expectOutcome("404 not_found", foreign);
    });
    expect(faults).toEqual([]);
    expect((await getWithKey(`/v1/shares/${activeShareId}`, world.acme.keys.live)).body.data).toEqual(before.body.data);
  });

  test("is readable by the app's own pages and by no other page", async () => {
    const faults = await collectFaults(listSessionOperations(), async (operation) => {
      for (const origin of ["http://svc.test", "https://evil.example", "null"]) {
        const { headers } = await requestTo(operation, { origin });
        const allowed = [headers.get("access-control-allow-origin"), headers.get("access-control-allow-credentials")].join();
        if (allowed !== (origin === "http://svc.test" ? `${origin},true` : ",")) return `${origin}: ${allowed}`;
      }
      return null;
    });
    expect(faults).toEqual([]);
  });
});

describe("every route", () => {
  const securityHeaders: Readonly<Record<string, RegExp>> = {
    "strict-transport-security": /^max-age=31536000; includeSubDomains$/,
    "x-content-type-options": /^nosniff$/,
    "referrer-policy": /^no-referrer$/,
    "content-security-policy": /default-src 'none'.*frame-ancestors 'none'/,
    "permissions-policy": /camera=\(\)/,
    "cross-origin-opener-policy": /^same-origin$/,
    "cache-control": /\S/,
    "x-request-id": /^req_00[0-9a-hjkmnp-tv-z]{24}$/,
  };
  const findHeaderFault = (response: TestResponse): string | null =>
    Object.entries(securityHeaders).find(([name, pattern]) => !pattern.test(response.headers.get(name) ?? ""))?.[0] ?? null;
  const cacheable = /^\/(?:\.well-known\/|v1\/openapi\.json|v1\/certs\/\{cert_id\}\/verify)/;

  const malformedRecords = Object.fromEntries(Object.keys(unknownRecords).map((name) => [name, "nothing"]));
  const requestAnswers = async (operation: Operation): Promise<readonly TestResponse[]> => [
    await requestTo(operation, { authorization: `Bearer ${world.acme.keys.live}` }),
    await requestTo(operation),
    await requestTo(operation, { authorization: `Bearer ${world.examples.suspended.keys.live}` }),
    await requestTo(operation, { authorization: "Bearer x" }, "?page=0&format=x"),
    ...(operation.parameters.length > 0
      ? [await requestTo(operation, { authorization: `Bearer ${world.other.keys.live}` }, "", malformedRecords)]
      : []),
    await call(fillPath(operation.path, getOwnRecords()), { method: "DELETE" }),
    await call(fillPath(operation.path, getOwnRecords()), {
      method: "OPTIONS",
      headers: { origin: "https://evil.com", "access-control-request-method": operation.method },
    }),
  ];
  const requested = new Map<Operation, Promise<readonly TestResponse[]>>();
  /** Sends the requests once, because several tests check different parts of the same responses. */
  const getResponses = (operation: Operation): Promise<readonly TestResponse[]> => {
    const responses = requested.get(operation) ?? requestAnswers(operation);
    requested.set(operation, responses);
    return responses;
  };

  test("responds with the security headers and a request ID, regardless of the status", async () => {
    const faults = await collectFaults(operations, async (operation) => {
      for (const response of await getResponses(operation)) {
        const fault = findHeaderFault(response);
        if (fault !== null) return `${response.status} without ${fault}`;
        if (response.body !== null && "ok" in response.body && response.body.request_id !== response.headers.get("x-request-id"))
          return `${response.status}: another request id in the body`;
        if (response.headers.has("set-cookie") || response.headers.has("server") || response.headers.has("x-powered-by"))
          return `${response.status}: has a cookie or reveals the server`;
      }
      return null;
    });
    expect(faults).toEqual([]);
  });

  test("sends no-store with every refusal, and with every other response unless the route is cacheable", async () => {
    const faults = await collectFaults(operations, async (operation) => {
      for (const response of await getResponses(operation)) {
        const isCacheable = response.headers.get("cache-control") !== "no-store";
        if (isCacheable && (response.status >= 400 || !cacheable.test(operation.path)))
          return `${response.status} ${response.headers.get("cache-control")}`;
      }
      return null;
    });
    expect(faults).toEqual([]);
  });

  test("changes nothing when read, except the records of the read", async () => {
    const reads = operations.filter(({ method }) => method === "GET");
    expect(reads.length).toBeGreaterThan(10);
    const recordsOfReads = ["audit_entries"]; // each read of personal data is recorded in this table
    const readStoredRecords = async (): Promise<Record<string, string>> =>
      Object.fromEntries(Object.entries(await readDatabaseContents()).filter(([table]) => !recordsOfReads.includes(table)));
    await getWithKey("/v1/certs", world.acme.keys.live); // this request records the day of the key's last use
    const before = await readStoredRecords();
    for (const headers of [{}, { authorization: `Bearer ${world.acme.keys.live}` }])
      for (const operation of reads) for (let times = 0; times < 2; times += 1) await requestTo(operation, headers);
    expect(await readStoredRecords()).toEqual(before);
  });

  test("returns an envelope with exactly the documented keys", async () => {
    const faults = await collectFaults(operations, async (operation) => {
      for (const response of await getResponses(operation)) {
        if (response.text === "") continue;
        if (!response.headers.get("content-type")?.startsWith("application/json"))
          return `${response.status} is ${response.headers.get("content-type")}`;
        const keys = Object.keys(response.body).join();
        const isEnvelope =
          response.status < 400
            ? keys === "ok,data,request_id" && response.body.ok === true
            : keys === "ok,error,request_id" && response.body.ok === false;
        const isPlainDocument = response.status === 200 && /^\/(?:\.well-known\/|v1\/openapi\.json)/.test(operation.path);
        if (!isEnvelope && !isPlainDocument) return `${response.status} holds ${keys}`;
        if (response.status >= 400 && Object.keys(response.body.error).join() !== "code,message")
          return `${response.status}: error holds ${Object.keys(response.body.error)}`;
      }
      return null;
    });
    expect(faults).toEqual([]);
  });

  test("returns 405 with Allow for every other method", async () => {
    const faults = await collectFaults(operations, async (operation) => {
      // A path can also match another route's pattern: /v1/certs/search matches /v1/certs/{cert_id}.
      const isHere = (path: string): boolean => new RegExp(`^${path.replaceAll(/\{[a-z_]+\}/g, "[^/]+")}$`).test(operation.path);
      const here = operations.filter(({ path }) => isHere(path)).map(({ method }) => method);
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"].filter((other) => !here.includes(other))) {
        const response = await call(fillPath(operation.path, getOwnRecords()), { method });
        if (describeOutcome(response) !== "405 method_not_allowed") return `${method} answers ${describeOutcome(response)}`;
        const allowed = response.headers.get("allow")?.split(", ") ?? [];
        if (here.some((allowedMethod) => !allowed.includes(allowedMethod)) || allowed.includes(method))
          return `${method} gets Allow: ${allowed}`;
      }
      return null;
    });
    expect(faults).toEqual([]);
  });

  test("returns 404 with the same headers for unknown paths and every method", async () => {
    for (const path of [
      "/v1",
      "/v1/",
      "/v1/nothing",
      "/v1/certs/",
      `/v1/certs/${ownCertId}/`,
      `/v1/certs/${ownCertId}/verify/x`,
      "/v2/certs",
      "/v1//certs",
      "/.env",
      "/.well-known/nothing",
      "/v1/%2e%2e/v1/nothing",
      "/index.html",
    ]) {
      for (const method of ["GET", "POST", "DELETE"]) {
        const response = await call(path, { method });
        expect(response.status, `${method} ${path}`).toBe(404);
        expect(findHeaderFault(response), `${method} ${path}`).toBeNull();
      }
    }
  });

  test("answers HEAD like GET without a body", async () => {
    const faults = await collectFaults(
      operations.filter(({ method }) => method === "GET"),
      async (operation) => {
        const headers = { authorization: `Bearer ${world.acme.keys.live}` };
        const got = await requestTo(operation, headers);
        const head = await call(`${fillPath(operation.path, getOwnRecords())}${queryFor(operation)}`, { method: "HEAD", headers });
        return head.status === got.status && head.text === "" ? null : `${head.status} instead of ${got.status}`;
      },
    );
    expect(faults).toEqual([]);
  });

  test("returns a unique request id", async () => {
    const responses = await Promise.all(Array.from({ length: 100 }, () => getWithKey("/v1/nothing")));
    expect(new Set(responses.map(({ headers }) => headers.get("x-request-id"))).size).toBe(100);
  });

  test("ignores a request ID sent by the caller", async () => {
    const response = await call("/v1/nothing", { headers: { "x-request-id": "req_00aaaaaaaaaaaaaaaaaaaaaaaa" } });
    expect(response.headers.get("x-request-id")).not.toBe("req_00aaaaaaaaaaaaaaaaaaaaaaaa");
  });

  test("returns 503 misconfigured with the same headers when the deployment has invalid settings, and writes nothing", async () => {
    const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const unfit = createEntryCall({ MASTER_KEYS: "" });
    const faults = await collectFaults(operations, async (operation) => {
      const response = await unfit(fillPath(operation.path, getOwnRecords()), {
        method: operation.method,
        headers: { authorization: `Bearer ${world.acme.keys.live}`, "content-type": "application/json", origin: "https://www.example.com" },
        ...(operation.method !== "GET" && { body: JSON.stringify(buildSubmission()) }),
      });
      const fault = findHeaderFault(response);
      if (fault !== null) return `without ${fault}`;
      if (Object.keys(response.body).join() !== "ok,error,request_id") return `holds ${Object.keys(response.body)}`;
      return expectOutcome("503 misconfigured", response);
    });
    silent.mockRestore();
    expect(faults).toEqual([]);
  });

  test("returns 500 internal_error without the cause for an internal fault", async () => {
    const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const broken = createServiceCall({
      DB: {
        prepare: () => {
          throw new TypeError("the secret cause");
        },
      },
    });
    const response = await broken("/v1/certs", { headers: { authorization: `Bearer ${world.acme.keys.live}` } });
    silent.mockRestore();
    expect(describeOutcome(response)).toBe("500 internal_error");
    expect(response.text).not.toContain("secret");
    expect(findHeaderFault(response)).toBeNull();
  });
});

describe("GET /v1/health", () => {
  test("lists the checks", async () => {
    const { status, body } = await getWithKey("/v1/health");
    expect(status).toBe(200);
    expect(body.data).toEqual({
      status: "ok",
      checks: {
        database: { ok: true, latency_ms: expect.any(Number) },
        kv: { ok: true, latency_ms: expect.any(Number) },
        crypto: { ok: true, latency_ms: expect.any(Number) },
      },
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await getWithKey("/health")).body.data.status).toBe("ok");
  });

  const rejectQuery = (): Promise<never> => Promise.reject(new Error("D1_ERROR: secret cause"));
  const statement = { bind: () => statement, all: rejectQuery, raw: rejectQuery };
  const unavailableDatabase = { prepare: () => statement, batch: rejectQuery };

  test.each<readonly [string, Record<string, unknown>, string]>([
    [
      "the database",
      {
        DB: unavailableDatabase,
      },
      "database",
    ],
    [
      "a second database",
      {
        DB_01: unavailableDatabase,
      },
      "database",
    ],
    [
      "the key-value store",
      {
        KV: { get: () => Promise.reject(new Error("KV GET failed: secret cause")), put: () => Promise.reject(new Error("KV PUT failed")) },
      },
      "kv",
    ],
  ])("names %s when it fails, but not the reason", async (_name, broken, failing) => {
    const silent = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await createServiceCall(broken)("/v1/health");
    silent.mockRestore();
    expect(describeOutcome(response)).toBe("503 unhealthy");
    expect(response.body.error.message).toContain(failing);
    expect(response.text).not.toContain("secret");
  });
});

describe("GET /.well-known/svc-trust.json", () => {
  test("contains the validity period of each key, which JSON Web Keys cannot express", async () => {
    const [retired, from, end] = ["A".repeat(43), "2026-01-01T00:00:00.000Z", "2026-06-01T00:00:00.000Z"];
    const auditVkey = await deriveLogVkey("svc.test/audit/00");
    const earlier = formatVkey(createVerifierKey(auditVkey.slice(0, auditVkey.indexOf("+")), keyKinds.log, new Uint8Array(32).fill(9)));
    const service = createServiceCall({
      ISSUER_KEY_FROM: end,
      RETIRED_ISSUER_KEYS: `${retired}@${from}/${end}`,
      AUDIT_VKEY: `${earlier}@${end}`,
    });
    const { logs, issuer_keys } = (await service("/.well-known/svc-trust.json")).body as {
      logs: { vkey: string; valid_from: string; valid_to: string | null }[];
      issuer_keys: { keys: Record<string, string | null>[] };
    };
    expect(issuer_keys.keys).toMatchObject([
      { valid_from: end, valid_to: null },
      { x: retired, valid_from: from, valid_to: end },
    ]);
    expect(logs.find(({ vkey }) => vkey === earlier)).toMatchObject({ valid_from: "1970-01-01T00:00:00.000Z", valid_to: end });
    expect(logs.find(({ vkey }) => vkey === auditVkey)).toMatchObject({ valid_to: null });
    const { keys } = (await service("/.well-known/jwks.json")).body as { keys: object[] };
    expect(keys.map((key) => Object.keys(key).sort())).toEqual([jwkMembers, jwkMembers]);
  });
});

const jwkMembers = ["alg", "crv", "kid", "kty", "use", "x"];

describe("GET /.well-known/jwks.json", () => {
  test("contains current and retired public keys and no private ones", async () => {
    const retired = "A".repeat(43);
    const { keys } = (await createServiceCall({ RETIRED_ISSUER_KEYS: retired })("/.well-known/jwks.json")).body as {
      keys: Record<string, string>[];
    };
    expect(keys).toHaveLength(2);
    for (const jwk of keys) {
      expect(Object.keys(jwk).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
      expect(jwk).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" });
      expect(jwk.x).toMatch(/^[A-Za-z0-9_-]{43}$/);
    }
    expect(keys[1]?.x).toBe(retired);
    const response = await getWithKey("/.well-known/jwks.json");
    expect(response.headers.get("cache-control")).toMatch(/max-age=300/);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });
});
