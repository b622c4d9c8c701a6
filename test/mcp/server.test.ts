// Tests the agent server over HTTP: JSON-RPC over POST (SPEC Agent server).
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { RateLimiter } from "../../durable-objects/rate-limiter/object.ts";
import {
  buildBearerHeader,
  callTool,
  createToken,
  postToAgentServer,
  parseResult,
  callMethod,
  type CreatedToken,
} from "../support/agents.ts";
import { call, getWithKey, productionSettings, createServiceCall, world } from "../support/world.ts";

let consumer: CreatedToken;
let business: CreatedToken;
beforeAll(async () => {
  consumer = await createToken("consumer");
  business = await createToken("business");
});
let clock = Date.now();
// Each test has its own minutes, because together the tests send more requests than one token may send per minute.
beforeEach(() => {
  clock += 120_000;
  vi.useFakeTimers({ toFake: ["Date"], now: clock });
});
afterAll(() => {
  vi.useRealTimers();
});

const describeError = ({ status, body }: { status: number; body: { error?: { code: number } } }) => `${status} ${body.error?.code}`;

describe("initialize", () => {
  test("returns 2025-03-26, regardless of the requested version", async () => {
    for (const params of [{ protocolVersion: "2025-03-26" }, { protocolVersion: "2099-01-01", capabilities: {} }, {}, undefined]) {
      const { status, headers, body } = await callMethod(consumer.token, "initialize", params);
      expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
      expect(body).toEqual({
        jsonrpc: "2.0",
        id: 1,
        result: {
          protocolVersion: "2025-03-26",
          capabilities: { tools: {} },
          serverInfo: { name: "svc-mcp", version: "1.0.0" },
          instructions: expect.stringContaining("No tool can issue a certificate, or agree to, widen or renew a share."),
        },
      });
    }
  });

  test("sets no session ID and no cookie", async () => {
    const { headers } = await callMethod(consumer.token, "initialize", {});
    expect([headers.get("mcp-session-id"), headers.get("set-cookie"), headers.get("access-control-allow-origin")]).toEqual([
      null,
      null,
      null,
    ]);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("a request", () => {
  test("returns an empty result for ping", async () => {
    expect((await callMethod(business.token, "ping")).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });

  test("returns -32601 with 200 for an unknown method", async () => {
    for (const method of ["resources/list", "TOOLS/LIST", "tools/list ", "__proto__", "constructor"])
      expect(describeError(await callMethod(consumer.token, method))).toBe("200 -32601");
  });

  test("returns -32602 with 200 for a tool call without a name", async () => {
    for (const params of [undefined, {}, { name: 7 }, { name: null }, ["svc_get_audit"]])
      expect(describeError(await callMethod(consumer.token, "tools/call", params))).toBe("200 -32602");
  });

  test("is not run and returns 202 without a body if it has no ID", async () => {
    for (const method of ["notifications/initialized", "tools/call", "no/such/method"]) {
      const { status, text } = await postToAgentServer(
        { jsonrpc: "2.0", method, params: { name: "svc_get_audit" } },
        buildBearerHeader(consumer.token),
      );
      expect([status, text]).toEqual([202, ""]);
    }
  });

  test("gets a response with its own ID", async () => {
    for (const id of [0, -1, 1.5, "", "x".repeat(10_000)])
      expect((await postToAgentServer({ jsonrpc: "2.0", id, method: "ping" }, buildBearerHeader(consumer.token))).body.id).toBe(id);
  });

  test("is accepted with any Content-Type and Accept header", async () => {
    for (const headers of [{ "content-type": "text/plain" }, { accept: "text/event-stream" }, { "mcp-protocol-version": "1999-01-01" }])
      expect(
        (await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping" }, { ...buildBearerHeader(consumer.token), ...headers })).status,
      ).toBe(200);
  });
});

describe("a token", () => {
  const wrong: readonly (readonly [string, Record<string, string>])[] = [
    ["none", {}],
    ["an empty one", { authorization: "" }],
    ["only the scheme", { authorization: "Bearer" }],
    ["an unknown one", buildBearerHeader(`pat_00${"A".repeat(43)}`)],
    ["one of a shard that does not exist", buildBearerHeader(`pat_zz${"A".repeat(43)}`)],
    ["an API key", buildBearerHeader(world.acme.keys.live)],
    ["a session", buildBearerHeader(`ses_00${"A".repeat(43)}`)],
    ["Basic", { authorization: `Basic ${btoa("pat_00:")}` }],
  ];
  test.each(wrong)("%s is -32001 with 401", async (_, headers) => {
    const response = await postToAgentServer({ jsonrpc: "2.0", id: "mine", method: "no/such" }, headers);
    expect(describeError(response)).toBe("401 -32001");
    expect(response.body.id).toBe("mine");
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
  });

  test("that is valid works in every spelling that the scheme allows, and in no other", async () => {
    const outcomes: Record<string, number> = {};
    for (const authorization of [
      `bearer ${consumer.token}`,
      `BEARER ${consumer.token}`,
      `Bearer  ${consumer.token}`,
      `Bearer ${consumer.token}, Bearer ${consumer.token}`,
      `Bearer ${consumer.token} x`,
      consumer.token,
    ])
      outcomes[authorization.replaceAll(consumer.token, "T")] = (
        await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping" }, { authorization })
      ).status;
    expect(outcomes).toEqual({ "bearer T": 200, "BEARER T": 200, "Bearer  T": 401, "Bearer T, Bearer T": 401, "Bearer T x": 401, T: 401 });
  });

  test("is checked before the body and accepted only in the header", async () => {
    expect(describeError(await postToAgentServer("{"))).toBe("401 -32001");
    expect(
      describeError(
        await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping", token: consumer.token, authorization: consumer.token }),
      ),
    ).toBe("401 -32001");
    const { status } = await call(`/mcp?token=${consumer.token}&access_token=${consumer.token}`, { method: "POST", body: "{}" });
    expect(status).toBe(401);
  });

  test("gives no access to the API, and API keys give no access here", async () => {
    for (const { token } of [consumer, business]) {
      expect((await getWithKey("/v1/certs", token)).status).toBe(401);
      expect((await getWithKey("/v1/events", token)).status).toBe(401);
      expect((await call("/v1/auth/session", { headers: { cookie: `svc_session=${token}` } })).status).toBe(401);
    }
  });
});

describe("an invalid message", () => {
  const malformed: readonly (readonly [string, string])[] = [
    ["nothing", ""],
    ["a truncated body", "{"],
    ["null", "null"],
    ["a word", '"ping"'],
    ["another version", '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
    ["no version", '{"id":1,"method":"ping"}'],
    ["no method", '{"jsonrpc":"2.0","id":1}'],
    ["an empty method", '{"jsonrpc":"2.0","id":1,"method":""}'],
    ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":7}'],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ["params that are a string", '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}'],
    ["a duplicate key", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}'],
    ["a response", '{"jsonrpc":"2.0","id":1,"result":{}}'],
  ];
  test.each(malformed)("%s is -32600 with 400", async (_, body) => {
    const response = await postToAgentServer(body, buildBearerHeader(consumer.token));
    expect(describeError(response)).toBe("400 -32600");
    expect(response.body.jsonrpc).toBe("2.0");
  });

  test("returns -32600 with 413 when larger than 256 KiB", async () => {
    expect(describeError(await postToAgentServer(" ".repeat(256 * 1_024 + 1), buildBearerHeader(consumer.token)))).toBe("413 -32600");
  });

  test("may be nested as deep as client capabilities, but not deeper", async () => {
    const buildNested = (levels: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(levels - 1)}1${"}".repeat(levels)}`;
    expect((await postToAgentServer(buildNested(32), buildBearerHeader(consumer.token))).status).toBe(200);
    expect(describeError(await postToAgentServer(buildNested(33), buildBearerHeader(consumer.token)))).toBe("400 -32600");
  });
});

describe("a batch", () => {
  const buildPing = (id?: number) => ({ jsonrpc: "2.0", ...(id !== undefined && { id }), method: "ping" });

  test("gets responses in order, without its notifications", async () => {
    const { status, body } = await postToAgentServer(
      [buildPing(2), buildPing(), { jsonrpc: "2.0", id: 1, method: "no/such" }, 7],
      buildBearerHeader(consumer.token),
    );
    expect(status).toBe(200);
    expect(body).toEqual([
      { jsonrpc: "2.0", id: 2, result: {} },
      { jsonrpc: "2.0", id: 1, error: { code: -32601, message: expect.any(String) } },
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: expect.any(String) } },
    ]);
  });

  test("returns 202 when it has only notifications", async () => {
    expect(await postToAgentServer([buildPing(), buildPing()], buildBearerHeader(consumer.token))).toMatchObject({ status: 202, text: "" });
  });

  test("may contain 1 to 20 messages", async () => {
    const buildPings = (count: number) => Array.from({ length: count }, (_, at) => buildPing(at));
    expect((await postToAgentServer(buildPings(20), buildBearerHeader(consumer.token))).body).toHaveLength(20);
    expect(describeError(await postToAgentServer(buildPings(21), buildBearerHeader(consumer.token)))).toBe("400 -32600");
    expect(describeError(await postToAgentServer([], buildBearerHeader(consumer.token)))).toBe("400 -32600");
  });

  test("returns 400 when it contains no valid message", async () => {
    const { status, body } = await postToAgentServer([1, [buildPing(1)]], buildBearerHeader(consumer.token));
    expect(status).toBe(400);
    expect(body.map(({ error }: { error: { code: number } }) => error.code)).toEqual([-32600, -32600]);
  });

  test("refuses initialize", async () => {
    const { status, body } = await postToAgentServer(
      [{ ...buildPing(1), method: "initialize" }, buildPing(2)],
      buildBearerHeader(consumer.token),
    );
    expect([status, body[0].error.code, body[1].result]).toEqual([200, -32600, {}]);
  });
});

describe("other methods, origins and hosts", () => {
  test("allow only POST and no streams", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await call("/mcp", { method, headers: { ...buildBearerHeader(consumer.token), accept: "text/event-stream" } });
      expect(describeError(response)).toBe("405 -32600");
      expect(response.headers.get("allow")).toBe("POST");
    }
    expect((await call("/mcp", { method: "HEAD" })).status).toBe(405);
  });

  test("refuse third-party pages and give them no CORS headers", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://svc.test.evil.example",
      "http://localhost.evil.example",
      "http://svc.test:81",
    ]) {
      const response = await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping" }, { ...buildBearerHeader(consumer.token), origin });
      expect([origin, describeError(response)]).toEqual([origin, "403 -32600"]);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect((await call("/mcp", { method: "OPTIONS", headers: { origin } })).status).toBe(403);
    }
    for (const origin of ["http://svc.test", "http://localhost:6274", "http://127.0.0.1", "http://[::1]:9"])
      expect(
        (await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping" }, { ...buildBearerHeader(consumer.token), origin })).status,
      ).toBe(200);
  });

  test("serve no foreign host names in development", async () => {
    for (const [host, status] of [
      ["http://evil.example", 403],
      ["http://localhost:8787", 401],
      ["http://127.0.0.1:9", 401],
    ] as const)
      expect((await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "ping" }, {}, createServiceCall({}, host))).status).toBe(status);
  });

  test("serve only the agent server's host in production, and refuse loopback", async () => {
    const pingAt = (host: string, headers: Record<string, string> = {}) =>
      postToAgentServer(
        { jsonrpc: "2.0", id: 1, method: "ping" },
        { ...buildBearerHeader(consumer.token), ...headers },
        createServiceCall(productionSettings, host),
      );
    expect((await pingAt("https://mcp.svc.test")).status).toBe(200);
    expect((await pingAt("https://mcp.svc.test", { origin: "https://app.svc.test" })).status).toBe(200);
    expect((await pingAt("https://mcp.svc.test", { origin: "http://localhost" })).status).toBe(403);
    for (const host of ["https://api.svc.test", "https://app.svc.test", "https://verify.svc.test"])
      expect((await pingAt(host)).status).toBe(404);
  });
});

describe("an outage", () => {
  const rejectUnavailable = (): Promise<never> => Promise.reject(new Error("D1_ERROR: the database is away"));
  const statement = {
    bind: () => statement,
    first: rejectUnavailable,
    all: rejectUnavailable,
    run: rejectUnavailable,
    raw: rejectUnavailable,
  };
  const unavailableDatabase = { prepare: () => statement, batch: rejectUnavailable };
  /** A database that can be read but not written. */
  const readOnly = { prepare: (sql: string) => env.DB.prepare(sql), batch: rejectUnavailable };

  test("returns -32000 with 500 during the token lookup", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await callMethod(consumer.token, "ping", undefined, createServiceCall({ DB: unavailableDatabase }));
    expect(describeError(response)).toBe("500 -32000");
    expect([response.body.id, response.headers.get("retry-after")]).toEqual([1, "1"]);
    vi.restoreAllMocks();
  });

  test("withholds the result when the call cannot be recorded in the audit log", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const service = createServiceCall({ DB: readOnly });
    const response = await callTool(business.token, "svc_list_events", {}, service);
    expect(describeError(response)).toBe("500 -32000");
    expect(response.body.result).toBeUndefined();
    const call = (id: number, method: string) => ({ jsonrpc: "2.0", id, method, params: { name: "svc_list_events" } });
    const batch = await postToAgentServer(
      [call(1, "ping"), call(2, "tools/call"), call(3, "ping")],
      buildBearerHeader(business.token),
      service,
    );
    expect(batch.status).toBe(500);
    expect(batch.body).toMatchObject([
      { id: 1, result: {} },
      { id: 2, error: { code: -32000 } },
      { id: 3, result: {} },
    ]);
    expect((await callTool(business.token, "svc_list_events")).status).toBe(200);
    vi.restoreAllMocks();
  });

  test("returns -32000 when the rate limiter is down, and -32603 without details for an internal error", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    type Methods = Partial<Record<keyof RateLimiter, unknown>>;
    const limiter = { getByName: (): Methods => ({ take: () => Promise.reject(new Error("Network connection lost.")) }) };
    expect(describeError(await callMethod(consumer.token, "ping", undefined, createServiceCall({ RATE_LIMITER: limiter })))).toBe(
      "500 -32000",
    );
    const broken = { getByName: (): Methods => ({ take: () => Promise.reject(new TypeError("the secret cause")) }) };
    const response = await callMethod(consumer.token, "ping", undefined, createServiceCall({ RATE_LIMITER: broken }));
    expect(describeError(response)).toBe("500 -32603");
    expect(response.text).not.toContain("secret");
    vi.restoreAllMocks();
  });
});

describe("tools", () => {
  test("of another realm are refused by name before their arguments are checked", async () => {
    for (const [{ token }, name, realm] of [
      [consumer, "svc_list_events", "business"],
      [business, "svc_revoke_share", "consumer"],
      [business, "svc_update_field", "consumer"],
    ] as const)
      for (const args of [undefined, {}, { cursor: "nonsense" }, [], null, 7, { share_id: "shr_00000000000000000000000000" }])
        expect(parseResult(await callTool(token, name, args)), name).toEqual({
          isError: true,
          text: `tool ${name} requires a ${realm} token`,
        });
  });
});
