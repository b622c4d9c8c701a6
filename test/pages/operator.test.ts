// Tests the operator's page: who can read it, and what it shows.
import { env } from "cloudflare:workers";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { firstShard, generateId, type BusinessId, type WebhookId } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import { batch, openDatabase } from "../../storage/database.ts";
import { insertFailingEndpoint } from "../../storage/outboxes/failing-endpoints.ts";
import { insertMail } from "../../storage/outboxes/mail.ts";
import { createPlatform, randomBytes } from "../../workers/platform/create-platform.ts";
import { messages } from "../../workers/pages/i18n/en/operator.ts";
import { createEntryCall, createServiceCall, productionSettings, world } from "../support/world.ts";

const token = "token-of-the-operator-of-the-operator-page-43";
const service = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
const withBasic = (password: string, ip = "198.51.100.7") => ({
  headers: { accept: "text/html", authorization: `Basic ${btoa(`operator:${password}`)}`, "cf-connecting-ip": ip },
});
const read = async (): Promise<string> => (await service("/operator", withBasic(token))).text;

describe("GET /operator", () => {
  test("returns 401 and asks for a password without the token, and shows no figures", async () => {
    for (const headers of [
      { accept: "text/html" },
      withBasic("another-token-of-the-operator-of-the-page-43").headers,
      withBasic("").headers,
      { authorization: `Basic ${token}` },
      { authorization: `Bearer ${world.acme.keys.live}` },
    ] as readonly Record<string, string>[]) {
      const { status, headers: answered, text } = await service("/operator", { headers });
      expect([status, answered.get("www-authenticate")]).toEqual([401, 'Basic realm="Operator", charset="UTF-8"']);
      expect(text).toContain(messages.signInTitle);
      expect(text).not.toContain(messages.figuresTitle);
    }
  });

  test("returns 404 while no token is set, even with a password", async () => {
    const closed = createServiceCall({ ADMIN_TOKEN_SHA256: "" });
    const { status, headers } = await closed("/operator", withBasic(token));
    expect([status, headers.get("www-authenticate")]).toEqual([404, null]);
  });

  test("limits wrong passwords by IP address, and still accepts the token from that address", async () => {
    const limited = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token), DEV_RATE_SCALE: "1", LIMIT_UNKNOWN_KEYS_PER_IP: "2/60" });
    const wrong = withBasic("another-token-of-the-operator-of-the-page-43", "198.51.100.8");
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) statuses.push((await limited("/operator", wrong)).status);
    expect(statuses).toEqual([401, 401, 429]);
    expect((await limited("/operator", withBasic(token, "198.51.100.8"))).status).toBe(200);
  });

  test("exists on the host of the API only", async () => {
    const settings = { ...productionSettings, ADMIN_TOKEN_SHA256: sha256Hex(token) };
    const statuses = await Promise.all(
      [productionSettings.BASE_URL, productionSettings.APP_URL, productionSettings.VERIFY_URL].map(
        async (url) => (await createEntryCall(settings, new URL(url as string).origin)("/operator", withBasic(token))).status,
      ),
    );
    expect(statuses).toEqual([200, 404, 404]);
  });

  test("cannot change anything, and its password opens no route of the API", async () => {
    expect((await service("/operator", { method: "POST", ...withBasic(token) })).status).toBe(405);
    expect((await service("/v1/admin/figures", withBasic(token))).status).toBe(401);
  });
});

describe("the operator's page", () => {
  const db = openDatabase(env.DB);
  const clear = async (): Promise<void> => {
    await env.DB.batch([env.DB.prepare("DELETE FROM mail_outbox"), env.DB.prepare("DELETE FROM outbox")]);
  };
  beforeEach(clear);
  afterAll(clear);

  test("shows the same figures as GET /v1/admin/figures", async () => {
    const figures = (await service("/v1/admin/figures", { headers: { authorization: `Bearer ${token}` } })).body.data as Record<
      string,
      { value: number; threshold: number }
    >;
    const text = await read();
    for (const { name } of Object.values(messages.figures)) expect(text).toContain(name);
    expect(Object.keys(figures).sort()).toEqual(Object.keys(messages.figures).sort());
    expect(text).toContain(`${figures.anchoring_delay?.threshold} min`);
    expect(text).toContain(`${figures.full_shard?.value}%`);
    expect(text).toContain(messages.noWork);
    expect(text).toContain(messages.noEndpoints);
  });

  test("says which work is overdue and that a figure is above its threshold, without the recipient of an email", async () => {
    const { vault } = await createPlatform(env);
    const recipient = "pat@overdue-mail.com";
    const now = Date.now() - 45 * minuteMs;
    await batch(
      db,
      await insertMail(db, vault, { template: "login_code", data: { code: "123456", realm: "consumer" }, to: recipient, now } as never),
    );
    const text = await read();
    expect(text).toContain(messages.work.mail);
    expect(text).toContain(`</svg>${messages.raised}<`);
    expect(text).toMatch(/4[5-9] min/);
    for (const secret of [recipient, "overdue-mail"]) expect(text).not.toContain(secret);
  });

  test("lists a failing endpoint by its ID", async () => {
    const webhookId = generateId("whk_", firstShard, randomBytes) as WebhookId;
    await insertFailingEndpoint(db, { webhookId, businessId: world.acme.id as BusinessId, since: Date.now() - 100 * minuteMs }, Date.now());
    const silent = { getByName: () => ({ findEndpointSettings: () => Promise.reject(new Error("overloaded")) }) };
    const callDuringOutage = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token), EVENT_SEQUENCE: silent });
    const { text } = await callDuringOutage("/operator", withBasic(token));
    for (const shown of [webhookId, world.acme.id, messages.unknown]) expect(text).toContain(shown);
    expect(text).not.toContain(messages.noEndpoints);
  });

  describe("requests by code", () => {
    const reader = createServiceCall({
      ADMIN_TOKEN_SHA256: sha256Hex(token),
      METRICS_ACCOUNT_ID: "0".repeat(32),
      METRICS_TOKEN: "token-of-the-account",
      METRICS_DATASET: "svc_staging",
    });
    const readWith = async (respond: () => Response): Promise<{ readonly text: string; readonly sent: readonly Request[] }> => {
      const sent: Request[] = [];
      vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
        sent.push((request as Request).clone());
        return respond();
      });
      try {
        return { text: (await reader("/operator", withBasic(token))).text, sent };
      } finally {
        vi.restoreAllMocks();
      }
    };

    test("are read from Workers Analytics Engine with the account's token", async () => {
      const data = [
        { status: "201", code: "", requests: "71234" },
        { status: "429", code: "rate_limited", requests: 12 },
      ];
      const { text, sent } = await readWith(() => Response.json({ meta: [], data, rows: 2 }));
      for (const shown of ["71,234", "429", "rate_limited"]) expect(text).toContain(shown);
      expect(sent).toHaveLength(1);
      const [request] = sent as [Request];
      expect(request.url).toBe(`https://api.cloudflare.com/client/v4/accounts/${"0".repeat(32)}/analytics_engine/sql`);
      expect(request.headers.get("authorization")).toBe("Bearer token-of-the-account");
      expect(await request.text()).toContain("FROM svc_staging WHERE index1 = 'request'");
    });

    test.each([
      ["refuses the token", () => new Response("forbidden", { status: 403 })],
      ["returns something else", () => Response.json({ data: "none" })],
      [
        "does not respond",
        () => {
          throw new Error("connection lost");
        },
      ],
    ])("are replaced by a note if the API %s", async (_, respond) => {
      const { text } = await readWith(respond);
      expect(text).toContain(messages.requestsUnread);
      expect(text).toContain(messages.shardsTitle);
    });

    test("are replaced by a note about the required settings if these are not set", async () => {
      expect(await read()).toContain(messages.requestsUnset);
    });
  });

  test("needs no script, cannot be framed or stored, and is hidden from search engines", async () => {
    const { headers, text } = await service("/operator", withBasic(token));
    expect(text).not.toContain("<script");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect([headers.get("cache-control"), headers.get("x-robots-tag")]).toEqual(["no-store", "noindex, nofollow"]);
  });

  test("shows which shard does not respond, even if it is the first or only one", async () => {
    const fail = (): Promise<never> => Promise.reject(new Error("D1_ERROR: network connection lost"));
    const statement = { bind: () => statement, all: fail, raw: fail, first: fail, run: fail };
    const callDuringOutage = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token), DB: { prepare: () => statement, batch: fail } });
    const page = await callDuringOutage("/operator", withBasic(token));
    expect(page.status).toBe(200);
    expect(page.text).toContain("Not responding");
  });
});
