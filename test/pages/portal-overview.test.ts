// Tests the overview of a live business, which shows the activity per day and per month in one environment. An export contains the same
// figures, and the audit chain records it.
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newCertificates } from "../support/counted-certificates.ts";
import { signIn } from "../support/people.ts";
import { listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { parseCsvFile, getLastCounts, parseChart, sumColumn, parseTable } from "../support/portal-charts.ts";
import { getFormToken } from "../support/portal-cast.ts";
import { openPage, postForm, getPageText, submitForm, parseFormFields, describeRedirect, type Member } from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson, redeemCode } from "../support/sharing.ts";
import { issueToNewPerson, buildJsonPost } from "../support/withdrawal.ts";
import { call, readDatabaseContents, issueCertificate, world } from "../support/world.ts";
import { findByTagName, extractText, withAttribute } from "./page.ts";

let owner: Member;
let member: Member;
let start: Figures;
beforeAll(async () => {
  owner = await signIn(world.ownerEmail);
  member = await signIn(world.memberEmail);
  await issueCertificate(); // the page shows the setup steps until there is a certificate
});

interface Figures {
  /** The number of certificates issued today, and the number withdrawn today. */
  readonly today: readonly [number, number];
  /** The number of acknowledgments this month that were on time, and the number that were late. */
  readonly month: readonly [number, number];
}

const readFigures = async (member: Member = owner, path = "/portal"): Promise<Figures> => {
  const page = await openPage(member, path);
  expect(page.status).toBe(200);
  return { today: getLastCounts(page, "Certificates per day"), month: getLastCounts(page, "Withdrawals confirmed") };
};

const addFigures = ({ today, month }: Figures, more: Partial<Figures>): Figures => ({
  today: [today[0] + (more.today?.[0] ?? 0), today[1] + (more.today?.[1] ?? 0)],
  month: [month[0] + (more.month?.[0] ?? 0), month[1] + (more.month?.[1] ?? 0)],
});

const withdraw = async (entities?: readonly string[]): Promise<string> => {
  const { certId, manageToken: token } = await issueToNewPerson();
  const sent = { token, ...(entities !== undefined && { entities }) };
  expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost(sent))).status).toBe(200);
  return certId;
};
const acknowledge = async (id: string): Promise<void> => {
  const path = `/portal/deadlines/${id}`;
  expect(describeRedirect(await submitForm(owner, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
};

describe("counting", () => {
  beforeEach(async () => {
    start = await readFigures();
  });

  test("counts certificates issued and withdrawn, and each acknowledgment by its deadline", async () => {
    const certId = await withdraw();
    expect(await readFigures()).toEqual(addFigures(start, { today: [1, 1] }));
    await acknowledge(certId);
    expect(await readFigures()).toEqual(addFigures(start, { today: [1, 1], month: [1, 0] }));
  });

  test("counts an acknowledgment after its deadline as late", async () => {
    const certId = await withdraw();
    // The business records a withdrawal that it received long ago.
    const { certId: recorded } = await issueToNewPerson();
    const response = await call(`/v1/certs/${recorded}/withdrawals`, {
      ...buildJsonPost({ method: "mail", received_at: "2020-01-01T00:00:00.000Z", scope: "certificate" }),
      headers: { "content-type": "application/json", authorization: `Bearer ${world.acme.keys.live}` },
    });
    expect([response.status, response.text]).toEqual([201, expect.any(String)]);
    await acknowledge(recorded);
    expect(await readFigures()).toEqual(addFigures(start, { today: [2, 2], month: [0, 1] }));
    await acknowledge(certId);
  });

  test("counts each withdrawn recipient, and the certificate only when the last one is withdrawn", async () => {
    const certId = await withdraw(["Bright Homes Inc"]);
    expect(await readFigures()).toEqual(addFigures(start, { today: [1, 0] }));
    await acknowledge(certId);
    expect(await readFigures()).toEqual(addFigures(start, { today: [1, 0], month: [1, 0] }));
  });

  test("counts stopped shares", async () => {
    const giver = await signInPerson();
    const granted = await grantShare(giver);
    await redeemCode(granted);
    const id = granted.share.share_id ?? granted.share.id;
    expect((await giver.post(`/v1/shares/${id}/revoke`, {})).status).toBe(200);
    await acknowledge(id);
    expect(await readFigures()).toEqual(addFigures(start, { month: [1, 0] }));
  });

  test("counts neither refused nor repeated requests", async () => {
    const { certId, manageToken: token } = await issueToNewPerson();
    const take = () => call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token }));
    expect([(await take()).status, (await take()).status]).toEqual([200, 409]);
    const path = `/portal/deadlines/${certId}`;
    const form = parseFormFields(await openPage(owner, path), path);
    await postForm(owner, path, form);
    await postForm(owner, path, form);
    expect(await readFigures()).toEqual(addFigures(start, { today: [1, 1], month: [1, 0] }));
  });

  test("counts each environment separately", async () => {
    const test = await readFigures(owner, "/portal/test");
    await issueCertificate({}, { ...world.acme, clients: { ...world.acme.clients, live: world.acme.clients.sandbox } });
    expect(await readFigures(owner, "/portal/test")).toEqual(addFigures(test, { today: [1, 0] }));
    expect(await readFigures()).toEqual(start);
  });
});

describe("the last thirty days", () => {
  const readCounts = async (member: Member = owner): Promise<Readonly<Record<string, readonly number[]>>> =>
    Object.fromEntries(
      withAttribute((await openPage(member, "/portal")).document, "class", "tile").map((tile) => [
        extractText(findByTagName([tile], "dt")),
        withAttribute([tile], "class", "figure").map((figure) => Number.parseInt(extractText(figure).replaceAll(",", ""), 10)),
      ]),
    );
  const readIncreases = async (before: Awaited<ReturnType<typeof readCounts>>) => {
    const after = await readCounts();
    return Object.fromEntries(Object.entries(after).map(([what, [now = 0]]) => [what, now - (before[what]?.[0] ?? 0)]));
  };
  const none = {
    "Certificates issued": 0,
    "Consents withdrawn": 0,
    "Certificate page views": 0,
    "New shares": 0,
    "Shares stopped": 0,
  };

  test("count certificates and each view by a person, but not by a program", async () => {
    const before = await readCounts();
    const certId = await withdraw();
    const look = (agent: string) => call(`/c/${certId}`, { headers: { "user-agent": agent, "cf-connecting-ip": "203.0.113.77" } });
    const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    for (const agent of [firefox, firefox, `${firefox} Elsewhere/1.0`, "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"])
      expect((await look(agent)).status).toBe(200);
    await waitUntilSettled();
    expect(await readIncreases(before)).toEqual({
      ...none,
      "Certificates issued": 1,
      "Consents withdrawn": 1,
      "Certificate page views": 3,
    });
  });

  test("show the percentage of issued certificates that were withdrawn", async () => {
    await withdraw();
    const page = await openPage(owner, "/portal");
    const [issued = 0, withdrawn = 0] = Object.values(await readCounts()).map(([now]) => now);
    const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 }).format(withdrawn / issued);
    expect(getPageText(page)).toContain(`${withdrawn} ${percent} of certificates issued`);
  });

  test("count shares granted and stopped, once each", async () => {
    const before = await readCounts();
    const giver = await signInPerson();
    const granted = await grantShare(giver);
    await redeemCode(granted);
    expect(await readIncreases(before)).toEqual({ ...none, "New shares": 1 });
    const id = granted.share.share_id ?? granted.share.id;
    for (const _ of ["once", "again"]) expect((await giver.post(`/v1/shares/${id}/revoke`, {})).status).toBe(200);
    await acknowledge(id);
    expect(await readIncreases(before)).toEqual({ ...none, "New shares": 1, "Shares stopped": 1 });
  });
});

test("describe the chart in words and have a bar for each day with a count", async () => {
  await withdraw();
  const page = await openPage(member, "/portal");
  const rows = parseTable(page, "Certificates per day");
  expect(rows).toHaveLength(30);
  const picture = parseChart(page, "certificate_days");
  expect(picture.titles).toEqual([
    `Certificates per day: ${sumColumn(rows, 1)} issued`,
    `Certificates per day: ${sumColumn(rows, 2)} withdrawn`,
  ]);
  expect(picture.up).toBe(rows.filter((row) => row[1] !== "0").length);
  expect(picture.down).toBe(rows.filter((row) => row[2] !== "0").length);
  expect(page.text).not.toContain("style=");
  expect(getPageText(page)).not.toMatch(/\{\w+\}/);
});

describe("exporting the figures", () => {
  test.each([
    ["certificate_days", "Certificates per day", "day,issued,withdrawn"],
    ["duty_months", "Withdrawals confirmed", "month,on_time,late"],
  ])("%s has exactly the figures shown and is recorded in the audit chain", async (chart, heading, head) => {
    const page = await openPage(member, "/portal");
    const before = (await listAuditEntryTypes(world.acme.id)).length;
    const file = await submitForm(member, "/portal", "/portal/export", { chart });
    expect([file.status, file.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    expect(parseCsvFile(file).head).toBe(head);
    expect(parseCsvFile(file).rows.map((row) => row.slice(1))).toEqual(parseTable(page, heading).map((row) => row.slice(1)));
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toEqual(["list.exported"]);
  });

  test("refuses a form from another site and an unknown chart, and records nothing", async () => {
    await waitUntilSettled(); // the first use of a session each day is recorded after the response
    const form = parseFormFields(await openPage(owner, "/portal"), "/portal/export");
    const before = await readDatabaseContents();
    expect((await postForm(owner, "/portal/export", { chart: "certificate_days" })).status).toBe(403);
    expect((await postForm(owner, "/portal/export", form, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await postForm(owner, "/portal/export", { ...form, chart: "people" })).status).toBe(404);
    expect(await readDatabaseContents()).toEqual(before);
  });
});

test("shows the setup steps to a business without a live certificate, and no figures of others", async () => {
  const fresh = await signUpBusiness("owner@overview-pages.example");
  const page = await openPage(fresh, "/portal");
  expect(getPageText(page)).toContain("Seven steps to your first live certificate");
  const steps = await openPage(owner, "/portal/steps");
  expect([steps.status, getPageText(steps)]).toEqual([200, expect.stringContaining("Seven steps to your first live certificate")]);
  const file = await postForm(fresh, "/portal/export", {
    chart: "certificate_days",
    form: await getFormToken(fresh, "/portal/export"),
  });
  expect(
    file.text
      .split("\r\n")
      .slice(1, -1)
      .every((line) => line.endsWith(',"0","0"')),
  ).toBe(true);
});

test("has counters that equal a count over all records", async () => {
  const sums =
    "SUM(issued) AS issued, SUM(withdrawn) AS withdrawn, SUM(opened) AS opened, SUM(granted) AS granted, SUM(revoked) AS revoked";
  const { results } = await env.DB.prepare(
    `${newCertificates}SELECT business_id, environment, ${sums} FROM (
       SELECT business_id, environment, issued, withdrawn, opened, granted, revoked FROM daily_activity
       UNION ALL SELECT business_id, environment, 1, 0, 0, 0, 0 FROM added
     ) GROUP BY 1, 2 ORDER BY 1, 2`,
  ).all();
  const walked = await env.DB.prepare(
    `SELECT business_id, environment, ${sums} FROM (
       SELECT business_id, environment, 1 AS issued, status = 'revoked' AS withdrawn, 0 AS opened, 0 AS granted, 0 AS revoked FROM certificates
       UNION ALL SELECT business_id, environment, 0, 0, 1, 0, 0 FROM certificate_views v JOIN certificates c ON c.id = v.cert_id WHERE NOT bot
       UNION ALL SELECT business_id, environment, 0, 0, 0, 1, revoked_at IS NOT NULL FROM shares
     ) GROUP BY 1, 2 ORDER BY 1, 2`,
  ).all();
  expect(results).toEqual(walked.results);
  expect(
    results.some(({ issued, withdrawn, opened, granted, revoked }) => [issued, withdrawn, opened, granted, revoked].every(Number)),
  ).toBe(true);
});
