// Tests protocol revision 2026-07-28 next to revision 2025-03-26 on the same URL. Only the body determines the revision, so nothing changes
// for clients of the earlier one.
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../core/canonical-json.ts";
import { buildBearerHeader, createToken, postToAgentServer, type CreatedToken } from "../support/agents.ts";
import { commitEvents, eventSequences, type EventSequenceMethods } from "../support/events.ts";
import { createServiceCall, world, type TestResponse, type Call } from "../support/world.ts";

const version = "2026-07-28";
const buildMetaKey = (name: string): string => `io.modelcontextprotocol/${name}`;
const meta = {
  [buildMetaKey("protocolVersion")]: version,
  [buildMetaKey("clientCapabilities")]: {},
  [buildMetaKey("clientInfo")]: { name: "tests", version: "1" },
};
const unlimited = { LIMIT_AGENT_TOKEN: "100000/60" };
const both = createServiceCall(unlimited);
const alone = createServiceCall({ ...unlimited, MCP_MODERN: "off" });

let consumer: CreatedToken;
let business: CreatedToken;
beforeAll(async () => {
  consumer = await createToken("consumer");
  business = await createToken("business");
});

interface RequestOptions {
  readonly params?: Record<string, unknown>;
  readonly meta?: unknown;
  readonly headers?: Record<string, string | null>;
  readonly token?: string;
  readonly id?: unknown;
  readonly service?: Call;
}

/** Builds a valid request of revision 2026-07-28 with the given changes. */
const callModern = (
  method: string,
  { params = {}, meta: claimed = meta, headers = {}, token = business.token, id = 1, service = both }: RequestOptions = {},
) => {
  const sent: Record<string, string | null> = {
    ...buildBearerHeader(token),
    "mcp-protocol-version": version,
    "mcp-method": method,
    ...(typeof params.name === "string" && { "mcp-name": params.name }),
    ...headers,
  };
  const kept = Object.entries(sent).filter((header): header is [string, string] => header[1] !== null);
  return postToAgentServer(
    { jsonrpc: "2.0", ...(id !== null && { id }), method, params: { ...params, _meta: claimed } },
    Object.fromEntries(kept),
    service,
  );
};
const describeOutcome = ({ status, body }: TestResponse): string => `${status} ${body?.error?.code ?? "ok"}`;

describe("revision 2026-07-28", () => {
  const serverInfo = { [buildMetaKey("serverInfo")]: { name: "svc-mcp", version: "1.0.0" } };

  test("supports server/discover", async () => {
    const { status, body } = await callModern("server/discover");
    expect(status).toBe(200);
    expect(body.result).toEqual({
      resultType: "complete",
      supportedVersions: [version],
      capabilities: { tools: {} },
      instructions: expect.stringContaining("No tool can issue a certificate"),
      ttlMs: 3_600_000,
      cacheScope: "public",
      _meta: serverInfo,
    });
  });

  test("lists tools with titles and output schemas, cacheable privately", async () => {
    const { result } = (await callModern("tools/list")).body;
    expect(result).toMatchObject({ resultType: "complete", ttlMs: 300_000, cacheScope: "private", _meta: serverInfo });
    const before = (await postToAgentServer({ jsonrpc: "2.0", id: 1, method: "tools/list" }, buildBearerHeader(business.token), both)).body
      .result.tools;
    expect(result.tools.map(({ title: _, outputSchema: __, ...rest }: Record<string, unknown>) => rest)).toEqual(before);
    for (const { title, outputSchema } of result.tools) {
      expect(title).toMatch(/^[A-Z]/);
      expect(outputSchema).toMatchObject({ type: "object", properties: expect.any(Object) });
      expect(JSON.stringify(outputSchema)).not.toContain('"additionalProperties":false');
    }
    expect(describeOutcome(await callModern("tools/list", { params: { cursor: "x" } }))).toBe("200 -32602");
  });

  test("returns a tool result as text and structured content, and a failure as text only", async () => {
    await commitEvents(world.acme.id, 2);
    await eventSequences.getByName(world.acme.id).drain();
    const { result } = (await callModern("tools/call", { params: { name: "svc_list_events" } })).body;
    expect(result).toMatchObject({ resultType: "complete", isError: false, _meta: serverInfo });
    expect(result.structuredContent).toEqual(JSON.parse(result.content[0].text));
    expect(result.structuredContent.events).toHaveLength(2);
    const failed = (await callModern("tools/call", { params: { name: "svc_create_share" } })).body.result;
    expect([failed.isError, "structuredContent" in failed]).toEqual([true, false]);
    const realm = (await callModern("tools/call", { params: { name: "svc_list_events" }, token: consumer.token })).body.result;
    expect(realm.content[0].text).toBe("tool svc_list_events requires a business token");
  });

  test("returns -32601 for initialize, ping and any other method", async () => {
    for (const method of ["initialize", "ping", "logging/setLevel", "subscriptions/listen", "resources/list"])
      expect(describeOutcome(await callModern(method))).toBe("404 -32601");
  });

  test("runs nothing for a notification and refuses batches", async () => {
    expect(await callModern("tools/call", { id: null, params: { name: "svc_list_events" } })).toMatchObject({ status: 202, text: "" });
    const claimed = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: meta } };
    for (const batch of [[claimed], [{ jsonrpc: "2.0", id: 2, method: "ping" }, claimed]])
      expect(describeOutcome(await postToAgentServer(batch, buildBearerHeader(business.token), both))).toBe("400 -32600");
  });

  test("requires the version and the capabilities, and checks the client info when present", async () => {
    const { [buildMetaKey("protocolVersion")]: _, ...noVersion } = meta;
    const { [buildMetaKey("clientCapabilities")]: __, ...noCapabilities } = meta;
    const { [buildMetaKey("clientInfo")]: ___, ...noInfo } = meta;
    const outcomes: Record<string, string> = {};
    for (const [name, claimed] of Object.entries({
      "a number": { ...meta, [buildMetaKey("protocolVersion")]: 7 },
      null: { ...meta, [buildMetaKey("protocolVersion")]: null },
      "no capabilities": noCapabilities,
      "capabilities in a list": { ...meta, [buildMetaKey("clientCapabilities")]: [] },
      "info that is a string": { ...meta, [buildMetaKey("clientInfo")]: "me" },
      "no info": noInfo,
      "no version, so an earlier revision": noVersion,
      "a list, so an earlier revision": [meta],
    }))
      outcomes[name] = describeOutcome(await callModern("tools/list", { meta: claimed }));
    expect(outcomes).toEqual({
      "a number": "400 -32602",
      null: "400 -32602",
      "no capabilities": "400 -32602",
      "capabilities in a list": "400 -32602",
      "info that is a string": "400 -32602",
      "no info": "200 ok",
      "no version, so an earlier revision": "200 ok",
      "a list, so an earlier revision": "200 ok",
    });
  });

  test("requires headers that match the body", async () => {
    const outcomes: Record<string, string> = {};
    for (const [name, headers] of Object.entries({
      "no version": { "mcp-protocol-version": null },
      "another version": { "mcp-protocol-version": "2025-03-26" },
      "the version twice": { "mcp-protocol-version": `${version}, ${version}` },
      "no method": { "mcp-method": null },
      "the method in uppercase": { "mcp-method": "TOOLS/CALL" },
      "no name": { "mcp-name": null },
      "another name": { "mcp-name": "svc_get_audit" },
      "the name in base64": { "mcp-name": `=?base64?${btoa("svc_list_events")}?=` },
      "another in base64": { "mcp-name": `=?base64?${btoa("svc_get_audit")}?=` },
      "malformed base64": { "mcp-name": "=?base64?***?=" },
    }))
      outcomes[name] = describeOutcome(await callModern("tools/call", { params: { name: "svc_list_events" }, headers }));
    expect(outcomes).toEqual({
      "no version": "400 -32020",
      "another version": "400 -32020",
      "the version twice": "400 -32020",
      "no method": "400 -32020",
      "the method in uppercase": "400 -32020",
      "no name": "400 -32020",
      "another name": "400 -32020",
      "the name in base64": "200 ok",
      "another in base64": "400 -32020",
      "malformed base64": "400 -32020",
    });
    expect(describeOutcome(await callModern("tools/call", { params: { name: 7 } }))).toBe("200 -32602");
  });

  test("returns the supported version for a version with another date", async () => {
    for (const other of ["2025-11-25", "2099-01-01", ""]) {
      const { status, body } = await callModern("tools/list", {
        meta: { ...meta, [buildMetaKey("protocolVersion")]: other },
        headers: { "mcp-protocol-version": other },
      });
      expect([status, body.error.code, body.error.data]).toEqual([400, -32022, { supported: [version], requested: other }]);
    }
  });

  test("returns code 429 above the rate limit", async () => {
    const service = createServiceCall({ LIMIT_AGENT_TOKEN: "1/60" });
    const { token } = await createToken("business");
    expect((await callModern("tools/list", { token, service })).status).toBe(200);
    const { status, headers, body } = await callModern("tools/list", { token, service });
    expect([status, body.error.code]).toEqual([429, 429]);
    expect(body.error.data).toEqual({ retry_after: Number(headers.get("retry-after")) });
  });

  test("checks the token first and reports outages like revision 2025-03-26", async () => {
    expect(describeOutcome(await callModern("server/discover", { token: `pat_00${"A".repeat(43)}` }))).toBe("401 -32001");
    const readOnly = createServiceCall({
      EVENT_SEQUENCE: {
        getByName: (): EventSequenceMethods => ({ listEvents: () => Promise.reject(new Error("Network connection lost.")) }),
      },
    });
    expect(describeOutcome(await callModern("tools/call", { params: { name: "svc_list_events" }, service: readOnly }))).toBe("500 -32000");
  });

  test("is off with MCP_MODERN=off, where its clients fall back to initialize", async () => {
    expect(describeOutcome(await callModern("server/discover", { service: alone }))).toBe("200 -32601");
    expect((await callModern("initialize", { service: alone })).body.result.protocolVersion).toBe("2025-03-26");
    expect(
      (await callModern("tools/call", { params: { name: "svc_list_events" }, service: alone })).body.result.structuredContent,
    ).toBeUndefined();
  });

  test("names the missing key when only the header declares the revision", async () => {
    const discover = { jsonrpc: "2.0", id: 1, method: "server/discover", params: {} };
    const named = await postToAgentServer(discover, { ...buildBearerHeader(business.token), "mcp-protocol-version": version }, both);
    expect(describeOutcome(named)).toBe("400 -32602");
    expect(named.body.error.message).toContain(buildMetaKey("protocolVersion"));
    expect(describeOutcome(await postToAgentServer(discover, buildBearerHeader(business.token), both))).toBe("200 -32601");
  });
});

/** Returns the status, the relevant headers and the exact body. */
const describeResponse = ({ status, headers, text }: TestResponse): string =>
  JSON.stringify([status, headers.get("content-type"), headers.get("allow"), headers.get("www-authenticate"), text]);

describe("a request that does not declare revision 2026-07-28", () => {
  const requests: readonly string[] = [
    ...["initialize", "ping", "tools/list", "no/such", "notifications/initialized"].map((method) =>
      JSON.stringify({ jsonrpc: "2.0", id: 1, method }),
    ),
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"_meta":{}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc_list_events","_meta":{"progressToken":1}}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"svc_create_share"}}',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    '[{"jsonrpc":"2.0","id":1,"method":"ping"},7]',
    "[]",
    "{",
    '{"id":1}',
  ];
  const headerSets: readonly Record<string, string>[] = [version, "2025-06-18", "1999-01-01", "x"].map((named) => ({
    "mcp-protocol-version": named,
    "mcp-method": "something/else",
    "mcp-name": "svc_get_audit",
  }));

  test("gets the same response, byte for byte, regardless of the headers", async () => {
    for (const body of requests) {
      const plain = describeResponse(await postToAgentServer(body, buildBearerHeader(business.token), both));
      for (const headers of headerSets)
        expect(describeResponse(await postToAgentServer(body, { ...buildBearerHeader(business.token), ...headers }, both)), body).toBe(
          plain,
        );
      expect(describeResponse(await postToAgentServer(body, buildBearerHeader(business.token), alone)), body).toBe(plain);
    }
  });

  test("gets the same response as with MCP_MODERN=off, regardless of its content", async () => {
    const method = fc.oneof(fc.constantFrom("ping", "tools/list", "tools/call", "initialize", "server/discover"), fc.string());
    const anything = fc.jsonValue({ maxDepth: 3 });
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom("2.0", "1.0"),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method,
        params: fc.oneof(
          anything,
          fc.record({ _meta: anything, name: fc.constantFrom("svc_create_share", "svc_list_events") }, { requiredKeys: [] }),
        ),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(message, anything, fc.array(message, { maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(body as fc.Arbitrary<Json>, async (sent) => {
        expect(describeResponse(await postToAgentServer(JSON.stringify(sent), buildBearerHeader(business.token), both))).toBe(
          describeResponse(await postToAgentServer(JSON.stringify(sent), buildBearerHeader(business.token), alone)),
        );
      }),
      { numRuns: 150 },
    );
  });

  test("cannot declare the revision through a prototype", async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"__proto__":{"${buildMetaKey("protocolVersion")}":"${version}"}}}}`;
    expect((await postToAgentServer(body, buildBearerHeader(business.token), both)).body).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });
});
