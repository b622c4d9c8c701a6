// The overview of a business that is live: what happened by day and by month, counted when it happened, of the mode's records alone, and
// the same figures as a file whose taking is entered in the audit chain.
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { signIn } from "../support/people.ts";
import { entriesOf, newBusiness } from "../support/portal.ts";
import { fileOf, lastOf, pictureOf, sumOf, tableOf } from "../support/portal-charts.ts";
import { formTokenOf } from "../support/portal-cast.ts";
import { open, post, said, send, standingIn, to, type Member } from "../support/portal-pages.ts";
import { settled } from "../support/settled.ts";
import { grant, person, redeem } from "../support/sharing.ts";
import { held, jsonPost } from "../support/withdrawing.ts";
import { call, databaseContents, issue, world } from "../support/world.ts";

let owner: Member;
let member: Member;
let start: Figures;
beforeAll(async () => {
  owner = await signIn(world.ownerEmail);
  member = await signIn(world.memberEmail);
  await issue(); // until there is one, the first steps stand in its place
});

interface Figures {
  /** Issued and withdrawn today; acknowledged on time and late this month. */
  readonly today: readonly [number, number];
  readonly month: readonly [number, number];
}

const figures = async (who: Member = owner, path = "/portal"): Promise<Figures> => {
  const page = await open(who, path);
  expect(page.status).toBe(200);
  return { today: lastOf(page, "Certificates, 30 days"), month: lastOf(page, "Deadlines, 12 months") };
};

const plus = ({ today, month }: Figures, more: Partial<Figures>): Figures => ({
  today: [today[0] + (more.today?.[0] ?? 0), today[1] + (more.today?.[1] ?? 0)],
  month: [month[0] + (more.month?.[0] ?? 0), month[1] + (more.month?.[1] ?? 0)],
});

const withdraw = async (entities?: readonly string[]): Promise<string> => {
  const { certId, manageToken: token } = await held();
  const sent = { token, ...(entities !== undefined && { entities }) };
  expect((await call(`/v1/certs/${certId}/opt-out/manage`, jsonPost(sent))).status).toBe(200);
  return certId;
};
const acknowledge = async (id: string): Promise<void> => {
  const path = `/portal/deadlines/${id}`;
  expect(to(await send(owner, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
};

describe("what is counted", () => {
  beforeEach(async () => {
    start = await figures();
  });

  test("certificates issued and withdrawn, and each acknowledgement by its deadline", async () => {
    const certId = await withdraw();
    expect(await figures()).toEqual(plus(start, { today: [1, 1] }));
    await acknowledge(certId);
    expect(await figures()).toEqual(plus(start, { today: [1, 1], month: [1, 0] }));
  });

  test("an acknowledgement after its deadline is late", async () => {
    const certId = await withdraw();
    // As if it had been recorded of a letter that came long ago.
    const { certId: recorded } = await held();
    const answer = await call(`/v1/certs/${recorded}/withdrawals`, {
      ...jsonPost({ method: "mail", received_at: "2020-01-01T00:00:00.000Z", scope: "certificate" }),
      headers: { "content-type": "application/json", authorization: `Bearer ${world.acme.keys.live}` },
    });
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    await acknowledge(recorded);
    expect(await figures()).toEqual(plus(start, { today: [2, 2], month: [0, 1] }));
    await acknowledge(certId);
  });

  test("of single recipients each, and no certificate before the last of them", async () => {
    const certId = await withdraw(["Bright Homes Inc"]);
    expect(await figures()).toEqual(plus(start, { today: [1, 0] }));
    await acknowledge(certId);
    expect(await figures()).toEqual(plus(start, { today: [1, 0], month: [1, 0] }));
  });

  test("of shares that were stopped", async () => {
    const giver = await person();
    const granted = await grant(giver);
    await redeem(granted);
    const id = granted.share.share_id ?? granted.share.id;
    expect((await giver.post(`/v1/shares/${id}/revoke`, {})).status).toBe(200);
    await acknowledge(id);
    expect(await figures()).toEqual(plus(start, { month: [1, 0] }));
  });

  test("not what is refused, nor twice what is sent twice", async () => {
    const { certId, manageToken: token } = await held();
    const take = () => call(`/v1/certs/${certId}/opt-out/manage`, jsonPost({ token }));
    expect([(await take()).status, (await take()).status]).toEqual([200, 409]);
    const path = `/portal/deadlines/${certId}`;
    const form = standingIn(await open(owner, path), path);
    await post(owner, path, form);
    await post(owner, path, form);
    expect(await figures()).toEqual(plus(start, { today: [1, 1], month: [1, 0] }));
  });

  test("each mode's own", async () => {
    const test = await figures(owner, "/portal/test");
    await issue({}, { ...world.acme, clients: { ...world.acme.clients, live: world.acme.clients.sandbox } });
    expect(await figures(owner, "/portal/test")).toEqual(plus(test, { today: [1, 0] }));
    expect(await figures()).toEqual(start);
  });
});

describe("the last thirty days", () => {
  const counts = async (who: Member = owner): Promise<Readonly<Record<string, readonly number[]>>> =>
    Object.fromEntries(
      tableOf(await open(who, "/portal"), "The last 30 days").map(([what = "", ...of]) => [
        what,
        of.map((text) => Number.parseInt(text.replaceAll(",", ""), 10)),
      ]),
    );
  const risen = async (before: Awaited<ReturnType<typeof counts>>) => {
    const after = await counts();
    return Object.fromEntries(Object.entries(after).map(([what, [now = 0]]) => [what, now - (before[what]?.[0] ?? 0)]));
  };
  const none = {
    "Certificates issued": 0,
    "Certificates withdrawn": 0,
    "Certificate pages opened by people": 0,
    "Shares granted": 0,
    "Shares stopped": 0,
  };

  test("count certificates, and each time a person opens a page: not what a program opens", async () => {
    const before = await counts();
    const certId = await withdraw();
    const look = (agent: string) => call(`/c/${certId}`, { headers: { "user-agent": agent, "cf-connecting-ip": "203.0.113.77" } });
    const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    for (const agent of [firefox, firefox, `${firefox} Elsewhere/1.0`, "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"])
      expect((await look(agent)).status).toBe(200);
    await settled();
    expect(await risen(before)).toEqual({
      ...none,
      "Certificates issued": 1,
      "Certificates withdrawn": 1,
      "Certificate pages opened by people": 3,
    });
  });

  test("say what part of the issued the withdrawn are", async () => {
    await withdraw();
    const page = await open(owner, "/portal");
    const [issued = 0, withdrawn = 0] = Object.values(await counts()).map(([now]) => now);
    expect(said(page)).toContain(`${withdrawn} (${Math.round((100 * withdrawn) / issued)}% of issued)`);
  });

  test("count shares that are granted and stopped, each once", async () => {
    const before = await counts();
    const giver = await person();
    const granted = await grant(giver);
    await redeem(granted);
    expect(await risen(before)).toEqual({ ...none, "Shares granted": 1 });
    const id = granted.share.share_id ?? granted.share.id;
    for (const _ of ["once", "again"]) expect((await giver.post(`/v1/shares/${id}/revoke`, {})).status).toBe(200);
    await acknowledge(id);
    expect(await risen(before)).toEqual({ ...none, "Shares granted": 1, "Shares stopped": 1 });
  });
});

test("the picture says in words what it shows, and has a bar for each day of which something is counted", async () => {
  await withdraw();
  const page = await open(member, "/portal");
  const rows = tableOf(page, "Certificates, 30 days");
  expect(rows).toHaveLength(30);
  const picture = pictureOf(page, "certificate_days");
  expect(picture.title).toContain(`Issued: ${sumOf(rows, 1)} in 30 days, `);
  expect(picture.title).toContain(`Withdrawn: ${sumOf(rows, 2)}, `);
  expect(picture.up).toBe(rows.filter((row) => row[1] !== "0").length);
  expect(picture.down).toBe(rows.filter((row) => row[2] !== "0").length);
  expect(page.text).not.toContain("style=");
  expect(said(page)).not.toMatch(/\{\w+\}/);
  expect(said(page)).toMatch(/Up: Issued, at most [\d,]+\. Down: Withdrawn, at most [\d,]+\. The line is zero\./);
});

describe("as a file", () => {
  test.each([
    ["certificate_days", "Certificates, 30 days", "day,issued,withdrawn"],
    ["duty_months", "Deadlines, 12 months", "month,on_time,late"],
  ])("%s has exactly the figures that are shown, and is entered in the audit chain", async (chart, heading, head) => {
    const page = await open(member, "/portal");
    const before = (await entriesOf(world.acme.id)).length;
    const file = await send(member, "/portal", "/portal/export", { chart });
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(fileOf(file).head).toBe(head);
    expect(fileOf(file).rows.map((row) => row.slice(1))).toEqual(tableOf(page, heading).map((row) => row.slice(1)));
    expect((await entriesOf(world.acme.id)).slice(before)).toEqual(["list.exported"]);
  });

  test("is not given to a form from elsewhere, nor of a chart that is none, and nothing is entered", async () => {
    await settled(); // the first use of a session in a day is noted after its answer
    const form = standingIn(await open(owner, "/portal"), "/portal/export");
    const before = await databaseContents();
    expect((await post(owner, "/portal/export", { chart: "certificate_days" })).status).toBe(403);
    expect((await post(owner, "/portal/export", form, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await post(owner, "/portal/export", { ...form, chart: "people" })).status).toBe(404);
    expect(await databaseContents()).toEqual(before);
  });
});

test("a business without a live certificate has its first steps there, and others' figures nowhere", async () => {
  const fresh = await newBusiness("owner@overview-pages.example");
  const page = await open(fresh, "/portal");
  expect(said(page)).toContain("From here to live certificates");
  const steps = await open(owner, "/portal/steps");
  expect([steps.status, said(steps)]).toEqual([200, expect.stringContaining("From here to live certificates")]);
  const file = await post(fresh, "/portal/export", {
    chart: "certificate_days",
    form: await formTokenOf(fresh, "/portal/export"),
  });
  expect(
    file.text
      .split("\r\n")
      .slice(1, -1)
      .every((line) => line.endsWith(",0,0")),
  ).toBe(true);
});

test("counters are what a walk over all records finds", async () => {
  const sums =
    "SUM(issued) AS issued, SUM(withdrawn) AS withdrawn, SUM(opened) AS opened, SUM(granted) AS granted, SUM(stopped) AS stopped";
  const { results } = await env.DB.prepare(`SELECT business_id, environment, ${sums} FROM activity_days GROUP BY 1, 2 ORDER BY 1, 2`).all();
  const walked = await env.DB.prepare(
    `SELECT business_id, environment, ${sums} FROM (
       SELECT business_id, environment, 1 AS issued, status = 'revoked' AS withdrawn, 0 AS opened, 0 AS granted, 0 AS stopped FROM certificates
       UNION ALL SELECT business_id, environment, 0, 0, 1, 0, 0 FROM certificate_views v JOIN certificates c ON c.id = v.cert_id WHERE NOT bot
       UNION ALL SELECT business_id, environment, 0, 0, 0, 1, revoked_at IS NOT NULL FROM shares
     ) GROUP BY 1, 2 ORDER BY 1, 2`,
  ).all();
  expect(results).toEqual(walked.results);
  expect(
    results.some(({ issued, withdrawn, opened, granted, stopped }) => [issued, withdrawn, opened, granted, stopped].every(Number)),
  ).toBe(true);
});
