// Tests that each view of a certificate page is recorded before the response. If recording fails, the page is still shown.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { getWithKey, issueCertificate, world } from "../support/world.ts";
import { browser, open, findSection, extractWords } from "./page.ts";

interface TrailRow {
  at: string;
  ip: string;
  user_agent: string;
  os: string | null;
  bot: boolean;
}

const readTrail = async (certId: string): Promise<{ count: number; rows: TrailRow[] }> => {
  const { body } = await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live);
  return { count: body.data.view_count, rows: body.data.view_trail };
};

const countStoredRows = async (certId: string): Promise<number> => {
  const row = await env.DB.prepare("SELECT count(*) AS rows FROM certificate_views WHERE cert_id = ?")
    .bind(certId)
    .first<{ rows: number }>();
  return row?.rows ?? -1;
};

describe("a view", () => {
  test("is counted on the page that is returned, and stored with time, address, browser and system", async () => {
    const { cert_id } = await issueCertificate();
    const page = await open(cert_id, { "cf-connecting-ip": "203.0.113.5" });
    expect(extractWords(findSection(page, "timeline"))).toContain("Opened once");
    const { count, rows } = await readTrail(cert_id);
    expect(count).toBe(1);
    expect(rows).toEqual([{ at: expect.any(String), ip: "203.0.113.5", user_agent: browser, os: "Windows", bot: false }]);
    expect(Math.abs(Date.parse(rows[0]!.at) - Date.now())).toBeLessThan(60_000);
  });

  test("is encrypted at rest: neither address nor browser is in the row", async () => {
    const { cert_id } = await issueCertificate();
    await open(cert_id, { "cf-connecting-ip": "203.0.113.6" });
    const row = await env.DB.prepare("SELECT * FROM certificate_views WHERE cert_id = ?").bind(cert_id).first();
    expect(JSON.stringify(row)).not.toMatch(/203\.0\.113|Mozilla|Windows/);
  });

  test("by the same browser is stored again, even for a reload", async () => {
    const { cert_id } = await issueCertificate();
    for (let n = 0; n < 3; n += 1) await open(cert_id, { "cf-connecting-ip": "203.0.113.7" });
    await open(cert_id, { "cf-connecting-ip": "203.0.113.8" });
    const { count, rows } = await readTrail(cert_id);
    expect([count, rows.map(({ ip }) => ip)]).toEqual([4, ["203.0.113.8", "203.0.113.7", "203.0.113.7", "203.0.113.7"]]);
  });

  test("is not recorded again when the script of an open page refreshes it", async () => {
    const { cert_id } = await issueCertificate();
    await open(cert_id, { "cf-connecting-ip": "203.0.113.9" });
    const refreshed = await open(cert_id, { "cf-connecting-ip": "203.0.113.9", "svc-refresh": "1" });
    expect([refreshed.status, (await readTrail(cert_id)).count, await countStoredRows(cert_id)]).toEqual([200, 1, 1]);
    expect(extractWords(findSection(refreshed, "timeline"))).toContain("Opened once");
  });

  test("is counted even among two hundred at the same time", async () => {
    const { cert_id } = await issueCertificate();
    const pages = await Promise.all(Array.from({ length: 200 }, (_, n) => open(cert_id, { "cf-connecting-ip": `203.0.113.${n}` })));
    expect(pages.every(({ status }) => status === 200)).toBe(true);
    const { count } = await readTrail(cert_id);
    expect([count, await countStoredRows(cert_id)]).toEqual([200, 200]);
    const seen = pages
      .map((page) => /Opened (?:once|(\d+) times)/.exec(extractWords(findSection(page, "timeline"))))
      .map((match) => Number(match?.[1] ?? 1));
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  }, 60_000);

  test("is only counted after ten thousand stored rows", async () => {
    const { cert_id } = await issueCertificate();
    await env.DB.prepare("UPDATE certificates SET view_rows = 9999 WHERE id = ?").bind(cert_id).run();
    await open(cert_id, { "cf-connecting-ip": "203.0.113.10" });
    await open(cert_id, { "cf-connecting-ip": "203.0.113.11" });
    expect((await readTrail(cert_id)).count).toBe(2);
    expect(await countStoredRows(cert_id)).toBe(1);
  });

  test("of an unknown certificate stores nothing", async () => {
    const before = await env.DB.prepare("SELECT count(*) AS rows FROM certificate_views").first("rows");
    await open(`cc_00${"7".repeat(24)}`);
    expect(await env.DB.prepare("SELECT count(*) AS rows FROM certificate_views").first("rows")).toBe(before);
  });

  test("stores any browser name as plain text of at most 512 characters", async () => {
    const { cert_id } = await issueCertificate();
    await open(cert_id, { "user-agent": `=HYPERLINK("x")\t<b>Windows NT</b> ${"y".repeat(2_000)}` });
    const [row] = (await readTrail(cert_id)).rows;
    expect(row?.user_agent).toHaveLength(512);
    expect(row?.user_agent.startsWith('=HYPERLINK("x")<b>Windows NT</b> y')).toBe(true);
  });
});

describe("a view without a sign of a program", () => {
  test.each(["curl/8.5.0", "python-requests/2.32", ""])("is counted with user agent %j", async (userAgent) => {
    const { cert_id } = await issueCertificate();
    await open(cert_id, { "user-agent": userAgent });
    const { count, rows } = await readTrail(cert_id);
    expect([count, rows.map(({ user_agent, bot }) => [user_agent, bot])]).toEqual([1, [[userAgent, false]]]);
  });
});

describe("a request that is not a view by a person", () => {
  const notCounted: (readonly [string, Record<string, string>, RequestInit])[] = [
    ["a HEAD request", {}, { method: "HEAD" }],
    ["a prefetch", { "sec-purpose": "prefetch" }, {}],
    ["a prerender", { "sec-purpose": "prefetch;prerender" }, {}],
    ["a prefetch with Purpose", { purpose: "prefetch" }, {}],
    ["a prefetch with X-Moz", { "x-moz": "prefetch" }, {}],
    ["a start page thumbnail", { "x-purpose": "preview" }, {}],
    [
      "a link preview in a chat",
      { "user-agent": "Mozilla/5.0 (compatible; Slackbot-LinkExpanding 1.0; +https://api.slack.com/robots)" },
      {},
    ],
    ["a crawler", { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" }, {}],
  ];

  test.each(notCounted)("stores %s without counting it", async (_what, headers, init) => {
    const { cert_id } = await issueCertificate();
    expect((await open(cert_id, headers, init)).status).toBe(200);
    const { count, rows } = await readTrail(cert_id);
    expect([count, rows.map(({ bot }) => bot)]).toEqual([0, [true]]);
  });

  test("stores a prefetch, and a view when the page is then opened", async () => {
    const { cert_id } = await issueCertificate();
    await open(cert_id, { "sec-purpose": "prefetch" });
    await open(cert_id);
    const { count, rows } = await readTrail(cert_id);
    expect([count, rows.map(({ bot }) => bot)]).toEqual([1, [false, true]]);
  });

  test("stores nothing for reading the JSON", async () => {
    const { cert_id } = await issueCertificate();
    await getWithKey(`/v1/certs/${cert_id}/verify`);
    expect(await readTrail(cert_id)).toEqual({ count: 0, rows: [] });
  });
});

describe("a view trail that cannot be written", () => {
  test("does not prevent the page from being shown, and is written again once it can be", async () => {
    const { cert_id } = await issueCertificate();
    await env.DB.exec("CREATE TRIGGER trail_is_down BEFORE INSERT ON certificate_views BEGIN SELECT RAISE(ABORT, 'injected fault'); END");
    const page = await open(cert_id);
    await env.DB.exec("DROP TRIGGER trail_is_down");
    expect(page.status).toBe(200);
    expect(extractWords(findSection(page, "timeline"))).toContain("Not opened yet");
    expect((await readTrail(cert_id)).count).toBe(0);
    await open(cert_id);
    expect((await readTrail(cert_id)).count).toBe(1);
  });
});
