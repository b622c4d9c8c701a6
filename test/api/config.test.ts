// Tests that a deployment checks its settings before it starts, and that each production host serves only its own paths.
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { toBase64 } from "../../core/bytes.ts";
import { sha256 } from "../../core/hash.ts";
import { ConfigError, loadConfig } from "../../workers/env.ts";
import { createRandomKey } from "../support/note-keys.ts";
import { call, createEntryCall, productionSettings, createServiceCall } from "../support/world.ts";

/** Lists the faults that this change to valid production settings causes. */
const listFaults = (change: Readonly<Record<string, unknown>>): string[] => {
  try {
    loadConfig({ ...env, ...productionSettings, ...change });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message.replace("not configured to run: ", "").split(", ");
  }
};
const encodeSecret = (...bytes: readonly number[]): string => toBase64(new Uint8Array(bytes));
const buildCountingSecret = (count: number): string => encodeSecret(...Array.from({ length: count }, (_, at) => at * 7 + 1));
const good = createRandomKey(7);
const textAs32Bytes = "Sphinx of black quartz, judge 1!";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a production deployment", () => {
  test("starts with all required settings", () => {
    expect(listFaults({})).toEqual([]);
  });

  const required = [
    "ENVIRONMENT",
    "BASE_URL",
    "VERIFY_URL",
    "CDN_URL",
    "MCP_URL",
    "APP_URL",
    "MASTER_KEYS",
    "INDEX_KEY",
    "ISSUER_KEY",
    "LEDGER_ORIGIN",
  ] as const;
  test.each(required)("does not start without %s", (name) => {
    expect(listFaults({ [name]: undefined })).toContain(name);
    expect(listFaults({ [name]: "" })).toContain(name);
    expect(listFaults({ [name]: 7 })).toContain(name);
  });

  test("reports all missing settings at once", () => {
    const faults = listFaults(Object.fromEntries(required.map((name) => [name, ""])));
    for (const name of required) expect(faults).toContain(name);
  });

  test.each(["BASE_URL", "VERIFY_URL", "CDN_URL", "MCP_URL", "APP_URL"])(
    "refuses %s unless it is an https URL without a trailing slash",
    (name) => {
      for (const value of [
        "http://api.svc.test/v1",
        "api.svc.test",
        "//api.svc.test",
        "https://",
        "https://api.svc.test/",
        "ftp://api.svc.test",
        "localhost",
      ]) {
        expect(listFaults({ [name]: value }), value).toEqual([name]);
      }
    },
  );

  test("refuses MCP_URL unless its path is /mcp, because the address is the resource identifier that clients know", () => {
    for (const value of ["https://mcp.svc.test", "https://mcp.svc.test/agents", "https://mcp.svc.test/mcp/v1"])
      expect(listFaults({ MCP_URL: value }), value).toEqual(["MCP_URL"]);
  });

  test("refuses MCP_MODERN unless it is on or off", () => {
    expect(listFaults({ MCP_MODERN: "yes" })).toEqual(["MCP_MODERN"]);
    for (const value of ["on", "off", ""]) expect(listFaults({ MCP_MODERN: value })).toEqual([]);
  });

  test("accepts a list of link keys, and refuses one that is malformed or has a key that is not random or is used elsewhere", () => {
    const [one, two] = [createRandomKey(61), createRandomKey(62)];
    for (const text of [`1:${one}`, "index", `index,1:${one}`, `index,1:${one}@next`, `1:${one},2:${two}`, `1:${one},2:${two}@next`])
      for (const name of ["LINK_KEYS", "INDEX_ENCRYPTION_KEYS"]) expect(listFaults({ [name]: text }), `${name} ${text}`).toEqual([]);
    for (const text of [
      one,
      `1:${one}@next`,
      "index@next",
      `1:${one}@next,2:${two}`,
      `1:${one},1:${two}`,
      `1:${one}, 2:${two}`,
      "index,index",
      "1:AAAA",
      `1:${"A".repeat(43)}=`,
    ])
      for (const name of ["LINK_KEYS", "INDEX_ENCRYPTION_KEYS"]) expect(listFaults({ [name]: text }), `${name} ${text}`).toEqual([name]);
    expect(listFaults({ INDEX_KEY: one, LINK_KEYS: `index,1:${one}` })).toEqual(["LINK_KEYS"]);
    expect(listFaults({ LINK_KEYS: `1:${one}`, INDEX_ENCRYPTION_KEYS: `1:${one}` })).toEqual(["INDEX_ENCRYPTION_KEYS"]);
  });

  test.each(["INDEX_KEY", "ISSUER_KEY"])("refuses %s unless it is 32 random bytes in base64", (name) => {
    const unfit = [
      buildCountingSecret(31),
      buildCountingSecret(33),
      buildCountingSecret(16),
      encodeSecret(...Array<number>(32).fill(0)),
      encodeSecret(...Array<number>(32).fill(255)),
      encodeSecret(...Array.from({ length: 32 }, (_, at) => at % 8)),
      encodeSecret(...Array.from({ length: 32 }, (_, at) => at)),
      buildCountingSecret(32),
      encodeSecret(...sha256("few").map((byte) => byte % 12)),
      toBase64(new Uint8Array([...sha256("half").slice(0, 16), ...sha256("half").slice(0, 16)])),
      toBase64(new TextEncoder().encode(textAs32Bytes)),
      "change-me",
      "0".repeat(64),
      `${good} `,
      good.slice(0, -1),
      toBase64(new TextEncoder().encode("aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb")),
      good.replaceAll("=", ""),
    ];
    for (const value of unfit) expect(listFaults({ [name]: value }), value).toEqual([name]);
    expect(listFaults({ [name]: good })).toEqual([]);
  });

  test("refuses MASTER_KEYS unless each is a version and 32 random bytes", () => {
    for (const value of [
      good,
      `1:${buildCountingSecret(31)}`,
      `1:${good},1:${good}`,
      `1:${good},`,
      `,1:${good}`,
      `1=${good}`,
      `a:${good}`,
      `12345:${good}`,
      `:${good}`,
      `1:${good};2:${good}`,
      "1:",
      ":",
    ]) {
      expect(listFaults({ MASTER_KEYS: value }), value).toEqual(["MASTER_KEYS"]);
    }
    expect(listFaults({ MASTER_KEYS: `1:${good},2:${createRandomKey(8)}` })).toEqual([]);
  });

  test("refuses one key under two names, and reports the second name", () => {
    expect(listFaults({ INDEX_KEY: good, ISSUER_KEY: good })).toEqual(["ISSUER_KEY"]);
    expect(listFaults({ MASTER_KEYS: `1:${good},2:${createRandomKey(8)}`, INDEX_KEY: createRandomKey(8) })).toEqual(["INDEX_KEY"]);
  });

  test.each([
    ["DEV_FETCH_ALLOW", "localhost:8788"],
    ["DEV_RATE_SCALE", "1"],
    ["DEV_CLOCK_OFFSET_MS", "0"],
    ["DEV_BATCH_WINDOW_MS", "2000"],
    ["DEV_ANYTHING_ELSE", "x"],
  ])("refuses the development setting %s, whatever its value", (name, value) => {
    expect(listFaults({ [name]: value })).toContain(name);
    expect(listFaults({ [name]: "" })).toEqual([]);
  });

  test("refuses an ENVIRONMENT other than production and development", () => {
    for (const value of ["prod", "Production", "staging", "test", "dev", " production"])
      expect(listFaults({ ENVIRONMENT: value }), value).toContain("ENVIRONMENT");
  });

  test.each([
    ["LIMIT_CONSENT_PER_IP", "lots", "<count>/<seconds> with count 1 to 9999999 and seconds 1 to 99999"],
    ["LIMIT_API_KEY", "0/60", "<count>/<seconds> with count 1 to 9999999 and seconds 1 to 99999"],
    ["LIMIT_AGENT_TOKEN", "100000000/60", "<count>/<seconds> with count 1 to 9999999 and seconds 1 to 99999"],
    ["LIMIT_CLIENT_DAY", "0", "a whole number from 1 to 9999999999999"],
  ])("reports %s=%s with its value and the allowed range", (name, value, rule) => {
    expect(listFaults({ [name]: value })).toEqual([`${name}="${value}" (must be ${rule})`]);
  });

  test("names secrets without their value, and cuts the reported value of a limit to 40 characters", () => {
    const secret = "not-a-key-but-still-secret";
    for (const name of ["MASTER_KEYS", "INDEX_KEY", "ISSUER_KEY", "ANCHOR_KEY", "AUDIT_KEY"])
      expect(listFaults({ [name]: secret }).join(), name).not.toContain(secret);
    expect(listFaults({ LIMIT_API_KEY: "9".repeat(500) }).join().length).toBeLessThan(200);
  });

  test("refuses retired keys that it cannot parse", () => {
    expect(listFaults({ RETIRED_ISSUER_KEYS: "short" })).toEqual(["RETIRED_ISSUER_KEYS"]);
    expect(listFaults({ RETIRED_ISSUER_KEYS: `${"A".repeat(43)}  ${"B".repeat(42)}A` })).toEqual([]);
    const retired = "A".repeat(43);
    const [from, end] = ["2026-01-01T00:00:00.000Z", "2026-11-22T00:00:00.000Z"];
    for (const window of [end, `${from}/${end}`]) expect(listFaults({ RETIRED_ISSUER_KEYS: `${retired}@${window}` }), window).toEqual([]);
    for (const window of ["", "2026-11-22", `${end}/${from}`, `${from}/`, `/${end}`, `${from}/${end}/${end}`, "2026-13-01T00:00:00.000Z"])
      expect(listFaults({ RETIRED_ISSUER_KEYS: `${retired}@${window}` }), window).toEqual(["RETIRED_ISSUER_KEYS"]);
    expect(listFaults({ ISSUER_KEY_FROM: from })).toEqual([]);
    expect(listFaults({ ISSUER_KEY_FROM: "yesterday" })).toEqual(["ISSUER_KEY_FROM"]);
  });

  test("refuses to start without a way to send mail, and never captures mail", () => {
    for (const kind of [undefined, "", "capture", "smtp", "HTTP"])
      expect(listFaults({ MAIL_TRANSPORT: kind }), kind).toEqual(["MAIL_TRANSPORT"]);
    for (const utf8 of ["on", "off", ""]) expect(listFaults({ MAIL_SMTPUTF8: utf8 }), utf8).toEqual([]);
    for (const utf8 of ["yes", "true", "ON"]) expect(listFaults({ MAIL_SMTPUTF8: utf8 }), utf8).toEqual(["MAIL_SMTPUTF8"]);
    expect(listFaults({ MAIL_TRANSPORT: "cloudflare" })).toEqual(["EMAIL"]);
    expect(listFaults({ MAIL_TRANSPORT: "cloudflare", EMAIL: { send: () => undefined } })).toEqual([]);
    for (const url of ["", "mail.example", "http://mail.example/send"])
      expect(listFaults({ MAIL_HTTP_URL: url }), url).toEqual(["MAIL_HTTP_URL"]);
    expect(listFaults({ MAIL_HTTP_TOKEN: "" })).toEqual(["MAIL_HTTP_TOKEN"]);
    for (const from of ["", "svc", "svc <no-reply@svc.test>", "a@svc.test,b@svc.test"])
      expect(listFaults({ MAIL_FROM: from }), from).toEqual(["MAIL_FROM"]);
  });

  test.each(["SUPPORT_EMAIL", "ALERT_EMAIL"])("refuses %s unless it is empty or one email address", (name) => {
    for (const value of ["", "help@svc.test"]) expect(listFaults({ [name]: value }), value).toEqual([]);
    for (const value of ["mailto:help@svc.test", "Help <help@svc.test>", "a@svc.test,b@svc.test", "help", "help@svc.test?cc=a@svc.test"])
      expect(listFaults({ [name]: value }), value).toEqual([name]);
  });

  test("requires the account and the token for reading metrics together, and a valid dataset", () => {
    const account = "0123456789abcdef".repeat(2);
    expect(listFaults({ METRICS_ACCOUNT_ID: account, METRICS_TOKEN: "x" })).toEqual([]);
    expect(listFaults({ METRICS_ACCOUNT_ID: account })).toEqual(["METRICS_TOKEN"]);
    for (const id of [undefined, "acme", `${account}0`])
      expect(listFaults({ METRICS_ACCOUNT_ID: id, METRICS_TOKEN: "x" }), id).toEqual(["METRICS_ACCOUNT_ID"]);
    for (const dataset of ["svc-staging", "svc; SELECT 1"])
      expect(listFaults({ METRICS_DATASET: dataset }), dataset).toEqual(["METRICS_DATASET"]);
  });

  test("requires HTTPS for traces, valid headers and a sample rate from 0 to 1", () => {
    const url = "https://otlp.svc-tests.com/v1/traces";
    for (const headers of [undefined, "authorization=Bearer%20a%2Cb==, x-team=svc"])
      expect(listFaults({ OTLP_TRACES_URL: url, OTLP_HEADERS: headers }), headers).toEqual([]);
    for (const wrong of ["otlp.svc-tests.com", "http://otlp.svc-tests.com/v1/traces"])
      expect(listFaults({ OTLP_TRACES_URL: wrong }), wrong).toEqual(["OTLP_TRACES_URL"]);
    for (const headers of ["authorization", "=a", "a b=c", "authorization=%", "a=b%0Ac"])
      expect(listFaults({ OTLP_TRACES_URL: url, OTLP_HEADERS: headers }), headers).toEqual(["OTLP_HEADERS"]);
    for (const rate of ["0", "0.5", "1"]) expect(listFaults({ OTLP_TRACES_URL: url, TRACE_SAMPLE_RATE: rate }), rate).toEqual([]);
    for (const rate of ["-0.1", "1.1", "all"])
      expect(listFaults({ TRACE_SAMPLE_RATE: rate }), rate).toEqual([`TRACE_SAMPLE_RATE="${rate}" (must be a number from 0 to 1)`]);
  });

  test("logs the names of invalid settings, and never their values", async () => {
    const lines: string[] = [];
    vi.spyOn(console, "error").mockImplementation((line) => lines.push(String(line)));
    const secret = `1:${good.slice(0, -2)}`;
    const response = await createEntryCall(
      { ...productionSettings, MASTER_KEYS: secret, BASE_URL: "http://secret-host.test/v1" },
      "https://api.svc.test",
    )("/v1/health");
    expect([response.status, response.body.error.code]).toEqual([503, "misconfigured"]);
    expect(lines.join()).toContain("MASTER_KEYS");
    expect(lines.join()).toContain("BASE_URL");
    expect(lines.join() + response.text).not.toContain(good.slice(0, 8));
    expect(lines.join() + response.text).not.toContain("secret-host");
  });

  test("answers again as soon as the settings are fixed", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const settings: Record<string, unknown> = { ...productionSettings, MASTER_KEYS: "" };
    expect((await createEntryCall(settings, "https://api.svc.test")("/v1/health")).status).toBe(503);
    expect((await createEntryCall(productionSettings, "https://api.svc.test")("/v1/health")).status).toBe(200);
  });
});

describe("a development deployment", () => {
  test("accepts plain http, its own clock and its own limits", () => {
    const settings = {
      ENVIRONMENT: "development",
      BASE_URL: "http://localhost:8787/v1",
      DEV_RATE_SCALE: "2.5",
      DEV_CLOCK_OFFSET_MS: "-1000",
      DEV_BATCH_WINDOW_MS: "50",
      DEV_FETCH_ALLOW: "localhost:1, 127.0.0.1:2",
    };
    const config = loadConfig({ ...env, ...settings });
    expect([config.limits.CONSENT_PER_IP.count, config.limits.API_KEY.count, config.clockOffsetMs]).toEqual([150, 120, -1000]);
    expect([config.batchWindowMs, loadConfig({ ...env, ...productionSettings, DEV_BATCH_WINDOW_MS: "" }).batchWindowMs]).toEqual([
      50, 2_000,
    ]);
    expect(config.devFetchAllow).toEqual(["localhost:1", "127.0.0.1:2"]);
  });

  test.each([
    ["DEV_RATE_SCALE", "0", "a number above 0"],
    ["DEV_RATE_SCALE", "-1", "a number above 0"],
    ["DEV_RATE_SCALE", "many", "a number above 0"],
    ["DEV_CLOCK_OFFSET_MS", "1.5", "a whole number"],
    ["DEV_CLOCK_OFFSET_MS", "tomorrow", "a whole number"],
    ["DEV_BATCH_WINDOW_MS", "-1", "a whole number from 0"],
    ["DEV_BATCH_WINDOW_MS", "soon", "a whole number from 0"],
  ])("does not start with %s=%s", (name, value, rule) => {
    expect(listFaults({ ENVIRONMENT: "development", [name]: value })).toContain(`${name}="${value}" (must be ${rule})`);
  });

  test("does not start with a DEV_DEMO that is not JSON", () => {
    expect(listFaults({ ENVIRONMENT: "development", DEV_DEMO: "{" })).toContain("DEV_DEMO");
  });

  test("requires its secrets, like a production deployment", () => {
    expect(listFaults({ ENVIRONMENT: "development", MASTER_KEYS: "", INDEX_KEY: "x", ISSUER_KEY: undefined })).toEqual([
      "MASTER_KEYS",
      "INDEX_KEY",
      "ISSUER_KEY",
    ]);
  });

  test("shifts its clock by DEV_CLOCK_OFFSET_MS", async () => {
    const day = 86_400_000;
    const { body } = await createServiceCall({ DEV_CLOCK_OFFSET_MS: String(day) })("/v1/health");
    expect(Math.abs(Date.parse(body.data.time) - Date.now() - day)).toBeLessThan(60_000);
  });

  test("answers every path on one host", async () => {
    for (const path of ["/v1/health", "/health", "/.well-known/jwks.json", "/v1/openapi.json"])
      expect((await call(path)).status, path).toBe(200);
  });
});

describe("a production host", () => {
  const served: Readonly<Record<string, readonly string[]>> = {
    "https://api.svc.test": ["/v1/health", "/health", "/.well-known/jwks.json", "/v1/openapi.json"],
    "https://verify.svc.test": ["/.well-known/jwks.json"],
    "https://app.svc.test": ["/v1/health", "/v1/openapi.json"],
    "https://cdn.svc.test": [],
    "https://mcp.svc.test": [],
  };
  const paths = [...new Set(Object.values(served).flat())];
  const strangers = [
    "https://evil.com",
    "https://svc.test",
    "https://api.svc.test.evil.com",
    "https://xapi.svc.test",
    "https://api.svc.test.",
    "https://api.svc.test:8443",
    "https://svc.workers.dev",
    "https://127.0.0.1",
    "https://[::1]",
    "http://api.svc.test:8787",
  ];

  test.each([...Object.keys(served), ...strangers])("%s answers its own paths and no others", async (host) => {
    const service = createServiceCall(productionSettings, host);
    for (const path of paths) {
      const { status } = await service(path);
      expect(status, path).toBe(served[host]?.includes(path) ? 200 : 404);
    }
    expect((await service("/v1/consent", { method: "POST" })).status).toBe(
      // The page script posts to the host it was loaded from, so these hosts serve the route. They refuse this empty request with 415.
      ["https://api.svc.test", "https://app.svc.test", "https://cdn.svc.test"].includes(host) ? 415 : 404,
    );
  });

  test("returns 404 not_found in the usual envelope for an unknown host", async () => {
    const response = await createServiceCall(productionSettings, "https://evil.com")("/v1/health");
    expect([response.status, response.body.error.code]).toEqual([404, "not_found"]);
  });

  test("serves no development route", async () => {
    for (const host of Object.keys(served)) {
      const service = createServiceCall(productionSettings, host);
      for (const path of ["/dev/mail", "/dev/mail/00000000-0000-4000-8000-000000000000", "/dev", "/__test/x", "/cdn-cgi/local/scheduled"])
        expect((await service(path)).status, `${host}${path}`).toBe(404);
    }
  });

  test("names the configured address in its OpenAPI document, whatever host was requested", async () => {
    const document = (await createServiceCall(productionSettings, "https://app.svc.test")("/v1/openapi.json")).body as {
      servers: { url: string }[];
    };
    expect(document.servers).toEqual([{ url: "https://api.svc.test" }]);
  });
});
