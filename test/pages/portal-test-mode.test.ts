// Tests test mode: its own records and clock, and triggered events through to their delivery.
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { commitEvents, mockReceivers } from "../support/events.ts";
import { clearCodes, signIn } from "../support/people.ts";
import {
  openPage,
  parsePage,
  postForm,
  getPageText,
  submitForm,
  parseFormFields,
  describeRedirect,
  type Member,
} from "../support/portal-pages.ts";
import { listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import { getFormToken } from "../support/portal-cast.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson, buildJsonPost } from "../support/withdrawal.ts";
import { call, readDatabaseContents, issueCertificate, buildSubmission, submitConsent, world } from "../support/world.ts";
import { findByTagName, extractWords } from "./page.ts";

let acme: Member;
let clerk: Member;
let fresh: Member & { id: string };

beforeAll(async () => {
  await clearCodes();
  acme = await signIn(world.ownerEmail);
  clerk = await signIn(world.memberEmail);
  fresh = await signUpBusiness("owner@test-mode-pages.example");
});
afterEach(() => vi.restoreAllMocks());

const testCert = async (): Promise<string> => {
  const response = await submitConsent({ ...buildSubmission(), client_id: world.acme.clients.sandbox, purpose: "a trial of test mode" });
  expect(response.status).toBe(201);
  return response.body.data.cert_id;
};

const trigger = (member: Member, fields: Readonly<Record<string, string>>) =>
  submitForm(member, "/portal/test/sandbox", "/portal/test/sandbox/trigger", fields);

const readTableText = ({ document }: Awaited<ReturnType<typeof openPage>>): string =>
  findByTagName(document, "table").map(extractWords).join();

describe("test mode", () => {
  test("is announced at the top of each page, and every link but one stays in it", async () => {
    for (const path of ["", "/certificates", "/deadlines", "/shares", "/webhooks", "/events", "/keys", "/team", "/settings", "/sandbox"]) {
      const page = await openPage(acme, `/portal/test${path}`);
      expect([path, page.status]).toEqual([path, 200]);
      expect(extractWords(page.document)).toContain("You’re in test mode. Nothing here counts as evidence.");
      const main = findByTagName(page.document, "main");
      const navigation = findByTagName(page.document, "nav").filter(({ attribs }) => attribs["aria-label"]?.startsWith("Portal"));
      for (const place of [...main, ...navigation])
        for (const { attribs } of findByTagName(place, "a")) {
          const href = attribs.href ?? "";
          if (href.startsWith("/portal")) expect([path, href.startsWith("/portal/test")]).toEqual([path, true]);
        }
      for (const { attribs } of findByTagName(page.document, "form"))
        if (attribs.action !== "/portal/sign-out") expect(attribs.action).toMatch(/^\/portal\/test/);
      expect(extractWords((await openPage(acme, `/portal${path === "/sandbox" ? "" : path}`)).document)).not.toContain("Test mode.");
    }
    expect((await openPage(acme, "/portal/sandbox")).status).toBe(404);
  });

  test("lists its own deadlines and leads to the record in the same environment", async () => {
    const sandbox = { ...world.acme, clients: { ...world.acme.clients, live: world.acme.clients.sandbox } };
    const { certId, manageToken: token } = await issueToNewPerson({}, sandbox);
    expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token }))).status).toBe(200);
    const listLinks = async (path: string): Promise<readonly (string | undefined)[]> =>
      findByTagName(findByTagName((await openPage(acme, path)).document, "main") as never, "a").map(({ attribs }) => attribs.href);
    expect(await listLinks("/portal/test/deadlines")).toContain(`/portal/test/deadlines/${certId}`);
    for (const link of await listLinks("/portal/test/deadlines")) expect(link).toMatch(/^\/portal\/test\//);
    expect(await listLinks(`/portal/test/deadlines/${certId}`)).toEqual([`/portal/test/certificates/${certId}`, "/portal/test/deadlines"]);
  });

  test("has its client ID on the setup steps, which lead to the test tag and to a test key", async () => {
    const steps = await openPage(fresh, "/portal/steps");
    const clientId = /pc_test_[a-z0-9]+/.exec(steps.text)?.[0] ?? "none";
    expect(extractWords((await openPage(fresh, "/portal/test/keys")).document)).toContain(clientId);
    const paths = findByTagName(steps.document, "a").flatMap(({ attribs }) => attribs.href ?? []);
    expect(paths).toContain("/portal/test/keys");
  });

  test("shows test records and no live ones, and live mode shows only live ones", async () => {
    const [ofTest, live] = [await testCert(), (await issueCertificate()).cert_id];
    const [inTest, inLive] = [await openPage(acme, "/portal/test/certificates"), await openPage(acme, "/portal/certificates")];
    expect([inTest.text.includes(ofTest), inTest.text.includes(live)]).toEqual([true, false]);
    expect([inLive.text.includes(ofTest), inLive.text.includes(live)]).toEqual([false, true]);
    expect(describeRedirect(await openPage(acme, `/portal/certificates/${ofTest}`))).toBe(`303 /portal/test/certificates/${ofTest}`);
    expect(describeRedirect(await openPage(acme, `/portal/test/certificates/${live}`))).toBe(`303 /portal/certificates/${live}`);
    const csv = await submitForm(acme, "/portal/test/certificates", "/portal/test/certificates/export");
    expect([csv.text.includes(ofTest), csv.text.includes(live)]).toEqual([true, false]);
    expect(extractWords((await openPage(fresh, "/portal/test/certificates")).document)).toContain("No certificates yet");
  });

  test("creates keys, client IDs and endpoints for test mode", async () => {
    const created = await submitForm(fresh, "/portal/test/keys", "/portal/test/keys", { key_name: "Continuous integration" });
    expect(created.text).toContain("sk_test_");
    expect(extractWords((await openPage(fresh, "/portal/test/keys")).document)).toContain("Continuous integration");
    expect(extractWords((await openPage(fresh, "/portal/keys")).document)).not.toContain("Continuous integration");
    mockReceivers(() => new Response(null, { status: 204 }));
    const registered = await submitForm(fresh, "/portal/test/webhooks/new", "/portal/test/webhooks", {
      url: "https://hook1.merchant-tests.com/trial",
    });
    expect(getPageText(registered)).toContain("Copy it now.");
    expect(extractWords((await openPage(fresh, "/portal/test/webhooks")).document)).toContain("/trial");
    expect(extractWords((await openPage(fresh, "/portal/webhooks")).document)).not.toContain("/trial");
  });

  test("returns the not-found page for a form that names a live key or certificate, and does nothing", async () => {
    await submitForm(fresh, "/portal/keys", "/portal/keys", { key_name: "Lead server" });
    const keyPath = /\/portal\/keys\/key_[a-z0-9]+/.exec((await openPage(fresh, "/portal/keys")).text)?.[0] ?? "none";
    const cert = (await issueCertificate()).cert_id;
    const forms = [
      [fresh, fresh.id, `${keyPath}/remove`],
      [acme, world.acme.id, `/portal/certificates/${cert}/reveal`],
      [acme, world.acme.id, `/portal/certificates/${cert}/evidence`],
    ] as const;
    for (const [member, businessId, path] of forms) {
      const action = path.replace("/portal/", "/portal/test/");
      const entries = await listAuditEntryTypes(businessId);
      const response = await postForm(member, action, { form: await getFormToken(member, action) });
      expect([action, response.status]).toEqual([action, 404]);
      expect(await listAuditEntryTypes(businessId)).toEqual(entries);
    }
    expect((await openPage(fresh, `${keyPath.replace("/portal/", "/portal/test/")}/remove`)).status).toBe(404);
    expect((await openPage(fresh, `${keyPath}/remove`)).status).toBe(200);
  });

  test("lets members move its clock forward, and an invalid time changes nothing", async () => {
    const before = extractWords((await openPage(clerk, "/portal/test/sandbox")).document);
    expect(before).toContain("Ahead of real time 0 days");
    expect(describeRedirect(await submitForm(clerk, "/portal/test/sandbox", "/portal/test/sandbox/clock", { days: "6" }))).toBe(
      "303 /portal/test/sandbox?done=moved",
    );
    expect(extractWords((await openPage(acme, "/portal/test/sandbox")).document)).toContain("6 days");
    expect(extractWords((await openPage(fresh, "/portal/test/sandbox")).document)).toContain("Ahead of real time 0 days");
    expect(describeRedirect(await submitForm(acme, "/portal/test/sandbox/reset", "/portal/test/sandbox/reset"))).toBe(
      "303 /portal/test/sandbox?done=reset",
    );
    expect(extractWords((await openPage(acme, "/portal/test/sandbox")).document)).toContain("Ahead of real time 0 days");
    const rows = await readDatabaseContents();
    const form = parseFormFields(await openPage(acme, "/portal/test/sandbox"), "/portal/test/sandbox/clock");
    expect((await postForm(acme, "/portal/test/sandbox/reset", form)).status).toBe(403);
    expect((await postForm(acme, "/portal/sandbox/clock", form)).status).toBe(405); // the form exists only in test mode
    expect(await readDatabaseContents()).toEqual(rows);
  });
});

describe("a triggered event", () => {
  test("appears in the list of its environment and links to its record", async () => {
    const happened = await trigger(acme, { type: "share.created", share_id: "" });
    expect(getPageText(happened)).toContain("Created: share.created");
    const list = await openPage(acme, "/portal/test/events");
    expect(extractWords(list.document)).toContain("share.created");
    expect(extractWords(list.document)).toContain("No endpoint");
    expect(readTableText(await openPage(acme, "/portal/test/events?type=share.revoked"))).not.toContain("share.created");
    const [first] = findByTagName(list.document, "a").filter(({ attribs }) => /^\/portal\/test\/events\/\d+$/.test(attribs.href ?? ""));
    const page = await openPage(acme, first?.attribs.href ?? "");
    expect(extractWords(page.document)).toContain('"type": "share.created"');
    const shareId = /"share_id": "(shr_\w+)"/.exec(extractWords(page.document))?.[1] ?? "none";
    for (const { document } of [list, page])
      expect(findByTagName(document, "a").map(({ attribs }) => attribs.href)).toContain(`/portal/test/shares/${shareId}`);
    const place = first?.attribs.href?.split("/").at(-1);
    expect((await openPage(fresh, `/portal/test/events/${place}`)).status).toBe(404);
    for (const none of ["0", "-1", "x", "999999"]) expect((await openPage(acme, `/portal/test/events/${none}`)).status).toBe(404);
  });

  test("for an update shows none of the new values", async () => {
    const created = parsePage(await trigger(acme, { type: "consumer.updated.email", share_id: "" }));
    const link = findByTagName(created.document, "a").find(({ attribs }) => /\/events\/\d+$/.test(attribs.href ?? ""))?.attribs.href ?? "";
    const page = await openPage(acme, link);
    expect(extractWords(page.document)).toContain("consumer.updated.email");
    expect(extractWords(page.document)).toContain("This page doesn’t show them.");
    expect(findByTagName(page.document, "main").map(extractWords).join()).not.toMatch(/sandy|@example/i);
  });

  test("shows each endpoint's delivery and can be replayed", async () => {
    let status = 500;
    const posts = mockReceivers(() => new Response(null, { status }));
    await submitForm(acme, "/portal/test/webhooks/new", "/portal/test/webhooks", { url: "https://hook1.merchant-tests.com/follow" });
    const created = parsePage(await trigger(acme, { type: "share.created", share_id: "" }));
    const link = findByTagName(created.document, "a").find(({ attribs }) => /\/events\/\d+$/.test(attribs.href ?? ""))?.attribs.href ?? "";
    await vi.waitFor(() => expect(posts.length).toBeGreaterThan(0), { timeout: 20_000 });
    await vi.waitFor(async () => expect(extractWords((await openPage(acme, link)).document)).toContain("1 of 5"), { timeout: 20_000 });
    const failed = await openPage(acme, link);
    expect(extractWords(failed.document)).toContain("Retrying");
    expect(extractWords((await openPage(acme, "/portal/test/events")).document)).toContain("0 of 1, 1 failed");
    status = 200;
    const sent = await submitForm(acme, link, `${link}/replay`);
    expect(describeRedirect(sent)).toBe(`303 ${link}?done=resent`);
    expect(extractWords((await openPage(acme, link)).document)).toContain("Delivered");
    expect(extractWords((await openPage(acme, "/portal/test/events")).document)).toContain("1 of 1");
    expect(readTableText(await openPage(acme, "/portal/events"))).not.toContain("share.created");
    await waitUntilSettled();
  });

  test("is found on later pages by its position, and no event is listed twice", async () => {
    await commitEvents(fresh.id, 60);
    const listEventSequences = ({ document }: Awaited<ReturnType<typeof openPage>>): readonly string[] =>
      findByTagName(document, "a").flatMap(({ attribs }) => /\/events\/(\d+)$/.exec(attribs.href ?? "")?.[1] ?? []);
    const places: string[] = [];
    for (let path: string | undefined = "/portal/events"; path !== undefined; ) {
      const page = await openPage(fresh, path);
      places.push(...listEventSequences(page));
      path = findByTagName(page.document, "a").find(({ attribs }) => attribs.rel === "next")?.attribs.href;
    }
    expect(places).toEqual(Array.from({ length: 60 }, (_, at) => String(60 - at)));
  });
});
