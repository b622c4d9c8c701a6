// Tests webhook endpoints in the portal: invalid input, permissions, outdated and repeated forms, and the notice about opt-in events.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { commitEvents, farAhead, deliveryQueues, eventSequences, mockReceivers, runAlarmsUntil } from "../support/events.ts";
import { clearCodes } from "../support/people.ts";
import { listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { getFormToken } from "../support/portal-cast.ts";
import { parseCsvFile, getLastCounts, parseChart, parseTable } from "../support/portal-charts.ts";
import {
  acceptInvitation,
  openPage,
  parsePage,
  postForm,
  getPageText,
  submitForm,
  parseFormFields,
  describeRedirect,
  type Member,
} from "../support/portal-pages.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { readDatabaseContents, type TestResponse } from "../support/world.ts";
import { findByTagName, extractText, withAttribute } from "./page.ts";

const list = "/portal/webhooks";
const newPage = "/portal/webhooks/new";
const url = "https://hooks.merchant-tests.com/in";
const onRequest = "2 event types are off";

let round = 0;
let owner: Awaited<ReturnType<typeof signUpBusiness>>;
let clerk: Member;
const createOwnerAndClerk = async (): Promise<void> => {
  round += 1;
  owner = await signUpBusiness(`owner@webhook-pages-${round}.example`);
  await submitForm(owner, "/portal/team", "/portal/team", { email: `clerk@webhook-pages-${round}.example`, role: "member" });
  await clearCodes();
  clerk = await acceptInvitation(`clerk@webhook-pages-${round}.example`);
  // The first use of a session each day writes a row, so each session is used once before the tests.
  for (const member of [owner, clerk]) await openPage(member, list);
  await waitUntilSettled();
  mockReceivers(() => new Response(null, { status: 200 }));
};
beforeEach(createOwnerAndClerk);
afterEach(() => {
  vi.restoreAllMocks();
});

const listEndpoints = async (member: Member = owner): Promise<readonly string[]> =>
  findByTagName((await openPage(member, list)).document, "a").flatMap(({ attribs }) =>
    /^\/portal\/webhooks\/whk_[a-z0-9]+$/.test(attribs.href ?? "") ? [attribs.href as string] : [],
  );
const make = async (more: Readonly<Record<string, string>> = {}): Promise<string> => {
  const created = await submitForm(owner, newPage, list, { url, ...more });
  return /\/portal\/webhooks\/whk_[a-z0-9]+/.exec(created.text)?.[0] as string;
};
const listInvalidFields = (response: TestResponse): readonly string[] =>
  findByTagName(parsePage(response).document, "input")
    .filter(({ attribs }) => attribs["aria-invalid"] === "true")
    .map(({ attribs }) => attribs.name as string);

describe("an endpoint for opt-in events", () => {
  test("shows a notice where it is created, on its page and among the events, until an owner turns the events on", async () => {
    const path = await make({ events: "some", "event.certificate.issued": "1" });
    const pages = [newPage, path, "/portal/events?type=certificate.issued"];
    for (const page of pages) expect([page, getPageText(await openPage(owner, page))]).toEqual([page, expect.stringContaining(onRequest)]);
    for (const page of ["/portal/events", "/portal/events?type=certificate.revoked"])
      expect(getPageText(await openPage(owner, page))).not.toContain(onRequest);
    expect(describeRedirect(await submitForm(owner, "/portal/settings", "/portal/settings/events", { emits: "1" }))).toBe(
      "303 /portal/settings?done=saved",
    );
    for (const page of pages)
      expect([page, getPageText(await openPage(owner, page))]).toEqual([page, expect.not.stringContaining(onRequest)]);
  });

  test("shows no notice if it does not select such events", async () => {
    for (const more of [{ events: "all" }, { events: "some", "event.certificate.revoked": "1" }])
      expect(getPageText(await openPage(owner, await make(more)))).not.toContain(onRequest);
  });
});

test.each([
  ["no URL", { url: "" }, "url"],
  ["a URL without https", { url: "http://hooks.merchant-tests.com/in" }, "url"],
  ["a loopback URL", { url: "https://127.0.0.1/in" }, "url"],
  ["a word instead of a URL", { url: "hooks" }, "url"],
  ["a description of 201 characters", { url, description: "d".repeat(201) }, "description"],
])("creates none with %s and keeps the input", async (_what, fields, field) => {
  const before = await readDatabaseContents();
  const sent: Readonly<Record<string, string>> = fields;
  const response = await submitForm(owner, newPage, list, { ...sent, events: "some", "event.share.revoked": "1" });
  expect(response.status).toBe(400);
  const input = findByTagName(parsePage(response).document, "input").find(({ attribs }) => attribs.name === field);
  expect(input?.attribs.value ?? "").toBe(sent[field]);
  expect([[field], []]).toContainEqual(listInvalidFields(response));
  expect(getPageText(response)).toMatch(/Error: .+/);
  const box = findByTagName(parsePage(response).document, "input").find(({ attribs }) => attribs.name === "event.share.revoked");
  expect("checked" in (box?.attribs ?? {})).toBe(true);
  expect(await listEndpoints()).toEqual([]);
  expect(await readDatabaseContents()).toEqual(before);
});

test.each([
  [" https://bücher-hooks.com/in ", "https://xn--bcher-hooks-thb.com/in"],
  [
    "https://hooks.merchant-tests.com/{tenant}/größe?tags=a|b c",
    "https://hooks.merchant-tests.com/%7Btenant%7D/gr%C3%B6%C3%9Fe?tags=a%7Cb%20c",
  ],
])("encodes %j as a browser does, and shows the URL that is called", async (typed, called) => {
  expect(getPageText(await openPage(owner, await make({ url: typed })))).toContain(called);
});

test("returns the not-found page for an invalid time or position and calls no endpoint", async () => {
  const path = await make();
  const calls = mockReceivers(() => new Response(null, { status: 200 }));
  for (const since of ["", "yesterday", "2999-01-01T00:00", "2026-13-01T00:00"])
    expect([
      since,
      (await postForm(owner, `${path}/recover`, { since, form: await getFormToken(owner, `${path}/recover`) })).status,
    ]).toEqual([since, 404]);
  expect((await openPage(owner, `${path}?before=nonsense`)).status).toBe(404);
  expect((await openPage(owner, `${list}/nonsense`)).status).toBe(404);
  for (const delivery of ["nonsense", `dlv_00${"z".repeat(24)}`]) {
    expect((await openPage(owner, `${path}/deliveries/${delivery}`)).status).toBe(404);
    const replay = `${path}/deliveries/${delivery}/replay`;
    expect((await postForm(owner, replay, { form: await getFormToken(owner, replay) })).status).toBe(404);
  }
  expect(calls).toEqual([]);
});

test("shows the rule next to the start time of a recovery if it is not in the past", async () => {
  const path = await make();
  for (const since of ["", "yesterday", "2999-01-01T00:00"]) {
    const page = await openPage(owner, `${path}/recover?since=${since}`);
    expect([since, page.status]).toEqual([since, 400]);
    expect(withAttribute(page.document, "id", "since-error").map(extractText)).toEqual(["Error: Enter a time in the past, in UTC."]);
    expect(withAttribute(page.document, "id", "since")[0]?.attribs.value).toBe(since);
  }
});

test("refuses a form from another site, of another session or of another action", async () => {
  const path = await make();
  const form = parseFormFields(await openPage(owner, newPage), list);
  const secret = (await openPage(owner, path)).text;
  const before = await readDatabaseContents();
  const statuses = [
    await postForm(owner, list, { url }),
    await postForm(owner, list, { ...form, url }, { "sec-fetch-site": "cross-site" }),
    await postForm(clerk, list, { ...form, url }),
    await postForm(owner, `${path}/remove`, form),
    await postForm(owner, `${path}/rotate`, form),
    await postForm(owner, `${path}/status`, form),
  ].map(({ status }) => status);
  expect(statuses).toEqual([403, 403, 403, 403, 403, 403]);
  expect(await listEndpoints()).toEqual([path]);
  const extractSecretHint = (text: string): string | undefined => /<code>(whsec_[^<]*)<\/code>/.exec(text)?.[1];
  expect(extractSecretHint((await openPage(owner, path)).text)).toBe(extractSecretHint(secret));
  expect(await readDatabaseContents()).toEqual(before);
});

test("lets a member send a test and refuses everything else, even with the member's own form", async () => {
  const path = await make();
  const page = await openPage(clerk, path);
  for (const action of ["status", "rotate", "remove"]) {
    expect(() => parseFormFields(page, `${path}/${action}`)).toThrow("no form");
    const refused = await postForm(clerk, `${path}/${action}`, { form: await getFormToken(clerk, `${path}/${action}`) });
    expect([action, refused.status, getPageText(refused)]).toEqual([action, 403, expect.stringContaining("Only owners can change this.")]);
  }
  expect((await postForm(clerk, list, { url, form: await getFormToken(clerk, list) })).status).toBe(403);
  expect(getPageText(await submitForm(clerk, path, `${path}/test`))).toContain("Your endpoint responded with 200");
  expect(await listEndpoints()).toEqual([path]);
});

test("creates one endpoint and shows its secret once when sent twice, even at the same time", async () => {
  const form = { ...parseFormFields(await openPage(owner, newPage), list), url };
  const responses = await Promise.all([postForm(owner, list, form), postForm(owner, list, form), postForm(owner, list, form)]);
  const shown = responses.filter(({ text }) => /whsec_[A-Za-z0-9+/=]{20,}/.test(text));
  expect(shown).toHaveLength(1);
  expect(await listEndpoints()).toHaveLength(1);
  expect((await listAuditEntryTypes(owner.id)).filter((type) => type === "webhook.created")).toHaveLength(1);
});

test("rotates the secret once when the form is sent twice at the same time", async () => {
  const path = await make();
  const form = parseFormFields(await openPage(owner, `${path}/rotate`), `${path}/rotate`);
  const responses = await Promise.all([postForm(owner, `${path}/rotate`, form), postForm(owner, `${path}/rotate`, form)]);
  const secrets = responses.flatMap(({ text }) => /whsec_[A-Za-z0-9+/=]{20,}/.exec(text)?.[0] ?? []);
  expect(secrets).toHaveLength(1);
  const revealed = await submitForm(owner, path, `${path}/secret`);
  expect(revealed.text).toContain(secrets[0]);
});

test("does nothing from a page opened before the endpoint was removed or its secret changed", async () => {
  const path = await make();
  const page = await openPage(owner, path);
  const forms = Object.fromEntries(
    await Promise.all(
      ["test", "status", "rotate", "remove"].map(async (action) => {
        const from = ["rotate", "remove"].includes(action) ? await openPage(owner, `${path}/${action}`) : page;
        return [action, parseFormFields(from, `${path}/${action}`)] as const;
      }),
    ),
  );
  expect((await postForm(owner, `${path}/rotate`, forms.rotate)).text).toMatch(/whsec_[A-Za-z0-9+/=]{20,}/);
  const hint = /<code>(whsec_[^<]*)<\/code>/.exec((await openPage(owner, path)).text)?.[1];
  expect(getPageText(await postForm(owner, `${path}/rotate`, forms.rotate))).toContain("This secret was already shown");
  expect(/<code>(whsec_[^<]*)<\/code>/.exec((await openPage(owner, path)).text)?.[1]).toBe(hint);
  expect(describeRedirect(await postForm(owner, `${path}/remove`, forms.remove))).toBe(`303 ${list}?done=removed`);
  for (const [action, form] of Object.entries(forms))
    expect([action, (await postForm(owner, `${path}/${action}`, form)).status]).toEqual([action, 404]);
});

test("returns the not-found page for a form of test mode that names an endpoint of live mode, and does nothing", async () => {
  const path = await make();
  const calls = mockReceivers(() => new Response(null, { status: 200 }));
  const entries = await listAuditEntryTypes(owner.id);
  const hint = /<code>(whsec_[^<]*)<\/code>/.exec((await openPage(owner, path)).text)?.[1] ?? "";
  const forms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    test: {},
    recover: { since: "2026-01-01T00:00" },
    edit: { url: "https://hooks.merchant-tests.com/other" },
    status: { status: "disabled" },
    secret: {},
    rotate: { hint },
    remove: {},
  };
  for (const [name, fields] of Object.entries(forms)) {
    const action = `${path.replace("/portal/", "/portal/test/")}/${name}`;
    const response = await postForm(owner, action, { ...fields, form: await getFormToken(owner, action) });
    expect([name, response.status]).toEqual([name, 404]);
  }
  expect(calls).toEqual([]);
  expect(await listAuditEntryTypes(owner.id)).toEqual(entries);
  expect(await listEndpoints()).toEqual([path]);
});

describe("the attempts of the last two days", () => {
  const heading = "Attempts, last 48 hours";
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(farAhead); // so far in the future that alarms run only when the test triggers them
    await createOwnerAndClerk();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const drainQueues = async (path: string): Promise<void> => {
    await eventSequences.getByName(owner.id).drain();
    await runAlarmsUntil(deliveryQueues.getByName(path.split("/").at(-1) as string), farAhead + 1_000);
  };

  test("are charted by the hour, delivered and failed, for this endpoint only", async () => {
    const [path, other] = [await make(), await make({ url: "https://hooks.merchant-tests.com/other" })];
    mockReceivers((post) => new Response(null, { status: post.url.endsWith("/in") ? 200 : 500 }));
    await commitEvents(owner.id, 3);
    await drainQueues(path);
    await drainQueues(other);
    const page = await openPage(clerk, path);
    expect(parseTable(page, heading)).toHaveLength(48);
    expect(getLastCounts(page, heading)).toEqual([3, 0]);
    expect(parseChart(page, "attempt_hours")).toEqual({
      titles: ["Attempts, last 48 hours: 3 delivered, 0 failed"],
      up: 1,
      down: 0,
    });
    const failing = await openPage(clerk, other);
    expect(getLastCounts(failing, heading)).toEqual([0, 3]);
    expect(parseChart(failing, "attempt_hours")).toEqual({
      titles: ["Attempts, last 48 hours: 0 delivered, 3 failed"],
      up: 0,
      down: 1,
    });
    expect(page.text).not.toContain("style=");
  });

  test("export exactly the figures shown, which is recorded for the endpoint", async () => {
    const path = await make();
    await commitEvents(owner.id, 1);
    await drainQueues(path);
    const rows = parseTable(await openPage(clerk, path), heading);
    const before = (await listAuditEntryTypes(owner.id)).length;
    const file = await submitForm(clerk, path, `${path}/export`);
    expect([file.status, file.headers.get("content-disposition")]).toEqual([200, 'attachment; filename="attempt_hours.csv"']);
    expect(parseCsvFile(file).head).toBe("hour,delivered,failed");
    expect(parseCsvFile(file).rows.map((row) => row.slice(1))).toEqual(rows.map((row) => row.slice(1)));
    expect(parseCsvFile(file).rows.at(-1)?.[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/);
    expect((await listAuditEntryTypes(owner.id)).slice(before)).toEqual(["list.exported"]);
  });
});

describe("an endpoint", () => {
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    vi.setSystemTime(farAhead);
    await createOwnerAndClerk();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const queueOf = (path: string) => deliveryQueues.getByName(path.split("/").at(-1) as string);
  const sendEvents = async (path: string, count: number): Promise<void> => {
    await commitEvents(owner.id, count);
    await eventSequences.getByName(owner.id).drain();
    await runAlarmsUntil(queueOf(path), Date.now() + 1_000);
  };
  const listDeliveryPaths = ({ document }: Awaited<ReturnType<typeof openPage>>): readonly string[] => [
    ...new Set(
      findByTagName(document, "a").flatMap(
        ({ attribs }) => /^\/portal\/webhooks\/whk_\w+\/deliveries\/dlv_\w+$/.exec(attribs.href ?? "")?.[0] ?? [],
      ),
    ),
  ];

  test("is missing at first, with a link to add one", async () => {
    const page = await openPage(owner, list);
    expect(getPageText(page)).toContain("No endpoints yet");
    expect(findByTagName(page.document, "a").filter(({ attribs }) => attribs.href === newPage)).not.toEqual([]);
  });

  test("is listed with its last 48 hours, last response and waiting events", async () => {
    const path = await make({ description: "CRM sync" });
    mockReceivers(() => new Response(null, { status: 503 }));
    await sendEvents(path, 3);
    const page = await openPage(clerk, list);
    const [row] = parseTable(page, "Endpoints");
    expect(row?.slice(0, 3)).toEqual([`${url}CRM sync`, "Failing", "All event types"]);
    expect(row?.slice(3)).toEqual(["3 of 3 attempts failed in 48 hours", "503 00:00", "3"]);
  });

  test("shows since when it has been failing, and resends what failed after a click on the next page", async () => {
    const path = await make();
    mockReceivers(() => new Response(null, { status: 503 }));
    await sendEvents(path, 2);
    const page = await openPage(clerk, path);
    expect(getPageText(page)).toContain("Failing since 1 January 2050, 00:00 UTC 2 events are waiting.");
    const link = findByTagName(page.document, "a").find(({ attribs }) => attribs.href?.startsWith(`${path}/recover`))?.attribs
      .href as string;
    const posts = mockReceivers(() => new Response(null, { status: 200 }));
    expect(getPageText(await openPage(clerk, link))).toContain("Events to resend: 2.");
    expect(describeRedirect(await submitForm(clerk, link, `${path}/recover`))).toBe(`303 ${path}?done=recovering`);
    await runAlarmsUntil(queueOf(path), Date.now() + 5_000);
    expect(posts).toHaveLength(2);
    expect(getPageText(await openPage(clerk, path))).not.toContain("Failing since");
  });

  test("says that events wait for the host's first 2xx response, until that response", async () => {
    const host = `new-${crypto.randomUUID()}.merchant-tests.com`;
    const notice = `Waiting for the first 2xx response from ${host}`;
    const path = await make({ url: `https://${host}/in` });
    mockReceivers(() => new Response(null, { status: 500 }));
    await sendEvents(path, 10);
    expect(getPageText(await openPage(clerk, path))).not.toContain(notice); // the host's limit allows ten attempts
    await sendEvents(path, 2);
    expect(getPageText(await openPage(clerk, path))).toContain(`${notice} 12 events are waiting.`);
    mockReceivers(() => new Response(null, { status: 200 }));
    await runAlarmsUntil(queueOf(path));
    expect(getPageText(await openPage(clerk, path))).not.toContain(notice);
  });

  test("lists only its failed or retrying deliveries when asked", async () => {
    const path = await make();
    await sendEvents(path, 1);
    mockReceivers(() => new Response(null, { status: 500 }));
    await sendEvents(path, 1);
    const listStatuses = async (query: string): Promise<readonly (string | undefined)[]> => {
      const page = await openPage(clerk, `${path}${query}`);
      return getPageText(page).includes("No matching deliveries.") ? [] : parseTable(page, "Deliveries").map((row) => row[1]);
    };
    expect(await listStatuses("")).toEqual(["Retrying", "Delivered"]);
    expect(await listStatuses("?status=retrying")).toEqual(["Retrying"]);
    expect(await listStatuses("?status=abandoned")).toEqual([]);
    await runAlarmsUntil(queueOf(path));
    expect(await listStatuses("?status=abandoned")).toEqual(["Failed"]);
  });

  test("is changed by an owner, and the audit log names what changed", async () => {
    const path = await make({ events: "some", "event.share.revoked": "1" });
    const form = parseFormFields(await openPage(owner, `${path}/edit`), `${path}/edit`);
    expect(form).toMatchObject({ url, events: "some", "event.share.revoked": "1" });
    const { "event.share.revoked": _, ...unchecked } = form;
    const refused = await postForm(owner, `${path}/edit`, unchecked);
    expect([refused.status, getPageText(refused)]).toEqual([400, expect.stringContaining("Choose at least one event type")]);
    const changed = await postForm(owner, `${path}/edit`, { ...form, description: "Suppression list", events: "all" });
    expect(describeRedirect(changed)).toBe(`303 ${path}?done=saved`);
    const text = getPageText(await openPage(owner, path));
    expect(text).toContain("Suppression list");
    expect(text).toContain("All event types");
    expect((await listAuditEntryTypes(owner.id)).at(-1)).toBe("webhook.changed");
  });

  test("reveals its secret to an owner only, and records it", async () => {
    const path = await make();
    const revealed = await submitForm(owner, path, `${path}/secret`);
    expect(revealed.text).toMatch(/whsec_[A-Za-z0-9+/=]{20,}/);
    expect((await listAuditEntryTypes(owner.id)).at(-1)).toBe("webhook.secret_revealed");
    const refused = await postForm(clerk, `${path}/secret`, { form: await getFormToken(clerk, `${path}/secret`) });
    expect([refused.status, refused.text.includes("whsec_")]).toEqual([403, false]);
  });

  describe("and its delivery", () => {
    test("shows the request, the response and the attempts made and planned, and resends immediately", async () => {
      const path = await make();
      const posts = mockReceivers(() => new Response("<b>database is down</b>", { status: 503, headers: { "x-trace": "trace-7f2c91" } }));
      await sendEvents(path, 1);
      const [delivery] = listDeliveryPaths(await openPage(clerk, path));
      const page = await openPage(clerk, delivery as string);
      const text = getPageText(page);
      for (const part of [
        "certificate.revoked Retrying",
        `svc-signature: ${posts[0]?.headers.get("svc-signature")}`,
        "x-trace: trace-7f2c91",
        "<b>database is down</b>",
        "503, counted as failed",
        "1 · 503",
        "2 · Scheduled",
        "5 · If needed",
      ])
        expect(text).toContain(part);
      expect(page.text).not.toContain("<b>database is down");
      const body = findByTagName(page.document, "code").find(({ attribs }) => attribs.id === "request-body");
      expect(JSON.parse(extractText(body === undefined ? [] : [body]))).toEqual(JSON.parse(posts[0]?.body ?? ""));
      mockReceivers(() => new Response("fine", { status: 200 }));
      vi.setSystemTime(Date.now() + 5_000);
      const resent = await submitForm(clerk, delivery as string, `${delivery}/replay`);
      expect(getPageText(resent)).toContain("Delivered Your endpoint responded with 200");
      expect(getPageText(await openPage(clerk, delivery as string))).toContain("Resent · 200");
      expect(getPageText(await openPage(clerk, `${delivery}?attempt=1`))).toContain("database is down");
    });

    test("does not count a queued resend as another attempt", async () => {
      const path = await make();
      mockReceivers(() => new Response(null, { status: 503 }));
      await sendEvents(path, 1);
      await runAlarmsUntil(queueOf(path));
      await submitForm(owner, path, `${path}/status`); // a disabled endpoint keeps the resend waiting
      const recovered = await submitForm(clerk, `${path}/recover?since=2050-01-01T00:00`, `${path}/recover`);
      expect(describeRedirect(recovered)).toBe(`303 ${path}?done=recovering`);
      const [delivery] = listDeliveryPaths(await openPage(clerk, path));
      const text = getPageText(await openPage(clerk, delivery as string));
      expect(text).toContain("This event is queued for resending, which doesn’t use up an attempt.");
      expect(text).not.toContain("Attempt 6");
    });

    test("is found in its own environment and under its own endpoint only", async () => {
      const [path, other] = [await make(), await make({ url: "https://hooks.merchant-tests.com/other" })];
      await sendEvents(path, 1);
      const [delivery] = listDeliveryPaths(await openPage(clerk, path));
      expect((await openPage(clerk, delivery as string)).status).toBe(200);
      expect((await openPage(clerk, (delivery as string).replace("/portal/", "/portal/test/"))).status).toBe(404);
      expect((await openPage(clerk, (delivery as string).replace(path, other))).status).toBe(404);
    });
  });
});
