// Tests the business portal over HTTP: signing up and in, permissions, form tokens, IDs that belong to other businesses, and inactive
// accounts.
import { env } from "cloudflare:workers";
import { DomUtils } from "htmlparser2";
import { Hono } from "hono";
import { beforeAll, describe, expect, test } from "vitest";
import { firstShard } from "../../core/ids.ts";
import type { AppEnv } from "../../workers/http/context.ts";
import { livePaths } from "../../workers/pages/portal/navigation.ts";
import { pathInEnvironment } from "../../workers/pages/portal/paths.ts";
import { registerPortalRoutes } from "../../workers/pages/portal/routes.ts";
import { getAuditLogStub } from "../support/audit.ts";
import { findEmailCode, getCookie, clearCodes, listMailTo, signIn } from "../support/people.ts";
import { listAuditEntryTypes, signUpBusiness } from "../support/portal.ts";
import {
  acceptInvitation,
  openPage,
  postForm,
  getPageText,
  submitForm,
  parseFormFields,
  parsePage,
  describeRedirect,
  type Member,
} from "../support/portal-pages.ts";
import { grantShare, signInPerson, redeemCode } from "../support/sharing.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { issueToNewPerson, buildJsonPost } from "../support/withdrawal.ts";
import {
  call,
  submitConsent,
  readDatabaseContents,
  getWithKey,
  issueCertificate,
  buildSubmission,
  world,
  type TestResponse,
} from "../support/world.ts";
import { findByTagName, extractWords, type ReadPage } from "./page.ts";

let acme: Member;
let colleague: Member; // a member of the same business with a rate limit of their own
let other: Member & { id: string };
let clerk: Member;

beforeAll(async () => {
  await clearCodes();
  acme = await signIn(world.ownerEmail);
  colleague = await signIn(world.memberEmail);
  other = await signUpBusiness("owner@portal-pages.example", { website: "https://portal-pages.example" });
  await submitForm(other, "/portal/team", "/portal/team", { email: "clerk@portal-pages.example", role: "member" });
  await clearCodes();
  clerk = await acceptInvitation("clerk@portal-pages.example");
});

const testPaths = ["/portal/sandbox", ...livePaths].map((path) => pathInEnvironment("sandbox", path));
/** Pages that ask for confirmation before an action. Members who may not perform the action see the reason instead. */
const confirmationPaths = ["/portal/team/leave", "/portal/test/team/leave", "/portal/test/sandbox/reset"];
const pages = [...livePaths, ...testPaths];

describe("signing in to the portal", () => {
  test("is required on every page and leads back to it", async () => {
    for (const path of pages) {
      const next = path === "/portal" ? "" : `?next=${encodeURIComponent(path)}`;
      expect(describeRedirect(await call(path, { redirect: "manual" }))).toBe(`303 /portal/sign-in${next}`);
    }
  });

  test("opens an account with four fields and the email code", async () => {
    const email = "first@new-portal.example";
    const form = await openPage({ cookie: "" }, "/portal/sign-up");
    expect(form.status).toBe(200);
    const bad = await postForm({ cookie: "" }, "/portal/sign-up", { business_name: "", email, country: "US", website: "" });
    expect([bad.status, getPageText(bad)]).toEqual([400, expect.stringContaining("Enter your business name (up to 200 characters).")]);
    expect(bad.text).toContain(`value="${email}"`);
    const response = await postForm({ cookie: "" }, "/portal/sign-up", {
      business_name: "New Portal LLC",
      email,
      country: "us",
      website: "https://new-portal.example",
    });
    expect(describeRedirect(response)).toBe("303 /portal/sign-in");
    const step = { cookie: getCookie(response) };
    expect(getPageText(await openPage(step, "/portal/sign-in"))).toContain(`We sent a 6-digit code to ${email}`);
    const wrong = await postForm(step, "/portal/sign-in/code", { code: "12 34" });
    expect([wrong.status, getPageText(wrong)]).toEqual([400, expect.stringContaining("Enter the 6-digit code.")]);
    const code = await findEmailCode(email);
    const signed = await postForm(step, "/portal/sign-in/code", { code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect(describeRedirect(signed)).toBe("303 /portal");
    const home = getPageText(await openPage({ cookie: getCookie(signed) }, "/portal"));
    expect(home).toContain("New Portal LLC");
    expect(home).toContain("new-portal.example was added. Publish a verification record, then verify the domain.");
  });

  test("marks every invalid field of a sign-up and focuses the first", async () => {
    const bad = parsePage(
      await postForm({ cookie: "" }, "/portal/sign-up", { business_name: " ", email: "first@", country: "XX", website: "not a website" }),
    );
    const fields = [...findByTagName(bad.document, "input"), ...findByTagName(bad.document, "select")];
    const invalid = fields.filter(({ attribs }) => attribs["aria-invalid"] === "true").map(({ attribs }) => attribs.name);
    const focused = fields.filter(({ attribs }) => "autofocus" in attribs).map(({ attribs }) => attribs.name);
    expect([bad.status, invalid, focused]).toEqual([400, ["business_name", "website", "email", "country"], ["business_name"]]);
    for (const text of ["Enter your business name", "Enter a website", "Enter a valid email address", "Choose a country"])
      expect(getPageText(bad)).toContain(text);
    const zeroWidthName = { business_name: "Acme\u200bSolar", email: "owner@acme.example", country: "US", website: "" };
    expect(getPageText(await postForm({ cookie: "" }, "/portal/sign-up", zeroWidthName))).toContain(
      "Must not contain invisible characters.",
    );
  });

  test("gives the same response whether or not an address is known", async () => {
    const requestSignIn = async (email: string): Promise<readonly unknown[]> => {
      const response = await postForm({ cookie: "" }, "/portal/sign-in", { email });
      const step = getPageText(await openPage({ cookie: getCookie(response) }, "/portal/sign-in"));
      return [describeRedirect(response), step.replaceAll(email, "")];
    };
    expect(await requestSignIn("nobody@portal-pages.example")).toEqual(await requestSignIn("owner@portal-pages.example"));
    expect(await listMailTo("nobody@portal-pages.example")).toEqual([]);
  });

  test("never redirects outside of the portal", async () => {
    for (const next of ["https://evil.example", "//evil.example", "/portal/../c", "/app", "/portal/sign-in", "/portal\\evil"]) {
      const response = await postForm({ cookie: "" }, "/portal/sign-in", { email: "nobody@portal-pages.example", next });
      expect(describeRedirect(response)).toBe("303 /portal/sign-in");
      expect(describeRedirect(await openPage(acme, `/portal/sign-in?next=${encodeURIComponent(next)}`))).toBe("303 /portal");
    }
  });
});

describe("every portal page", () => {
  test("is in the list of paths that tests and benchmarks use", () => {
    const app = new Hono<AppEnv>();
    registerPortalRoutes(app);
    const shown = app.routes.filter(({ method, path }) => method === "GET" && !/[:*]/.test(path)).map(({ path }) => path);
    const others = [
      "/sign-in",
      "/sign-in/link",
      "/sign-in/passkey",
      "/sign-up",
      "/invitations",
      "/account/reauthenticate",
      "/billing/checkout",
    ].flatMap((path) => [`/portal${path}`, `/portal/test${path}`]);
    expect(shown.filter((path) => !others.includes(path)).sort()).toEqual([...pages, ...confirmationPaths].sort());
  });

  test.each(pages)("%s opens for owner and member, is not cached, and loads only files of this origin", async (path) => {
    // The owner of the other business does not open the pages in test mode, because a person can open at most 120 pages a minute and later
    // tests also use this owner.
    for (const member of testPaths.includes(path) ? [acme, clerk] : [acme, other, clerk]) {
      const page = await openPage(member, path);
      expect([path, page.status]).toEqual([path, 200]);
      expect(extractWords(page.document)).not.toMatch(/\{\w+\}/); // no unfilled placeholder of a message
      expect(page.headers.get("cache-control")).toBe("no-store");
      expect(page.headers.get("content-security-policy")).toContain("form-action 'self'");
      expect(page.headers.get("x-robots-tag")).toBe("noindex, nofollow");
    }
  });

  test.each(confirmationPaths)("%s asks for confirmation and names both answers", async (path) => {
    const page = await openPage(path.endsWith("/team/leave") ? clerk : acme, path); // Acme's only owner can't leave
    expect(page.status).toBe(200);
    expect(extractWords(findByTagName(page.document, "h1")[0] as never)).toMatch(/\?$/);
    expect(findByTagName(page.document, "ul").filter(({ attribs }) => attribs.class === "follows")).toHaveLength(1);
    expect(() => parseFormFields(page, path)).not.toThrow();
    expect(findByTagName(page.document, "a").some(({ attribs }) => attribs.href === path.slice(0, path.lastIndexOf("/")))).toBe(true);
  });

  test("shows each reader their own data, even with several readers at the same time", async () => {
    const readTeamPage = async (member: Member): Promise<readonly unknown[]> => {
      const page = await openPage(member, "/portal/team");
      return [getPageText(page), parseFormFields(page, "/portal/team").form];
    };
    const alone = [await readTeamPage(acme), await readTeamPage(other)];
    expect(alone[0]).not.toEqual(alone[1]);
    expect(await Promise.all([acme, other, acme, other, acme, other].map(readTeamPage))).toEqual([...alone, ...alone, ...alone]);
  });

  test("has no owner form for a member and refuses the form", async () => {
    const before = await readDatabaseContents();
    for (const [path, action] of [
      ["/portal/keys", "/portal/keys"],
      ["/portal/team", "/portal/team"],
      ["/portal/webhooks/new", "/portal/webhooks"],
      ["/portal/domains", "/portal/domains"],
      ["/portal/settings", "/portal/settings/profile"],
    ] as const) {
      const page = await openPage(clerk, path);
      expect(() => parseFormFields(page, action)).toThrow("no form");
      expect(extractWords(page.document)).toContain("Only owners can change this.");
    }
    expect(await readDatabaseContents()).toEqual(before);
  });
});

test("leads a member from a refused action to the owners and to the overview", async () => {
  const listLinks = (page: ReadPage) =>
    findByTagName(page.document, "main")
      .flatMap((main) => findByTagName(main, "a"))
      .map(({ attribs }) => attribs.href ?? "");
  const domainPath = listLinks(await openPage(clerk, "/portal/domains")).find((path) => path.startsWith("/portal/domains/"));
  const page = await openPage(clerk, `${domainPath}/remove`);
  expect([page.status, listLinks(page)]).toEqual([403, ["/portal/team", "/portal"]]);
});

describe("a portal form", () => {
  test("changes nothing from another site, of another session or of another action", async () => {
    const ownFields = parseFormFields(await openPage(other, "/portal/domains"), "/portal/domains");
    const ofClerk = parseFormFields(await openPage(clerk, "/portal"), "/portal/sign-out");
    const before = await readDatabaseContents();
    const domain = "stolen.example";
    const attempts = [
      postForm(other, "/portal/domains", { domain }),
      postForm(other, "/portal/domains", { domain, form: ofClerk.form as string }),
      postForm(other, "/portal/keys", { ...ownFields, key_name: "x" }),
      postForm(other, "/portal/domains", { ...ownFields, domain }, { "sec-fetch-site": "cross-site" }),
      postForm(other, "/portal/domains", { ...ownFields, domain }, { "sec-fetch-site": "same-site" }),
    ];
    const refused = await Promise.all(attempts);
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
    expect([refused[1], refused[3]].map((response) => getPageText(response as TestResponse))).toEqual([
      expect.stringContaining("This page is out of date"),
      expect.stringContaining("This form was sent from another site"),
    ]);
    expect(describeRedirect(await postForm({ cookie: "" }, "/portal/domains", { ...ownFields, domain }))).toBe("303 /portal/sign-in");
    expect(await readDatabaseContents()).toEqual(before);
  });
});

describe("looking up a request", () => {
  test("explains why it was refused and links to the remedy, and has a page for IDs that are not stored", async () => {
    const refused = await submitConsent({ ...buildSubmission(), page_url: "https://shop.elsewhere.example/" });
    await waitUntilSettled();
    const id = refused.body.request_id;
    expect(describeRedirect(await openPage(acme, `/portal/requests?id=${id.toUpperCase()}`))).toBe(`303 /portal/requests/${id}`);
    const page = await openPage(acme, `/portal/requests/${id}`);
    expect(page.status).toBe(200);
    expect(extractWords(page.document)).toContain("403 page_url_not_verified");
    expect(extractWords(page.document)).toContain("shop.elsewhere.example");
    expect(page.text).toContain('href="/portal/domains"');
    const otherPage = await openPage(other, `/portal/requests/${id}`);
    expect([otherPage.status, extractWords(otherPage.document)]).toEqual([
      404,
      expect.stringContaining("We keep rejected requests for 7 days."),
    ]);
    expect(otherPage.text).not.toContain("shop.elsewhere.example");
    const wrong = await openPage(acme, "/portal/requests?id=nonsense");
    expect([wrong.status, extractWords(wrong.document)]).toEqual([400, expect.stringContaining("Enter a request ID")]);
    expect(wrong.text).toContain('value="nonsense"');
  });
});

describe("records of another business", () => {
  test("get the same page as unknown IDs, on every path with an ID", async () => {
    const { certId } = await issueToNewPerson();
    const giver = await signInPerson();
    const { share } = await grantShare(giver);
    const ids = {
      certificates: [certId, "cc_00000000000000000000000000"],
      shares: [share.id ?? share.share_id, "shr_00000000000000000000000000"],
    };
    const pageOf = async (path: string): Promise<readonly unknown[]> => {
      const page = await openPage(other, path);
      return [page.status, page.text.replaceAll(/name="form" value="[^"]*"/g, "")];
    };
    for (const [kind, [ownId = "", nobodys = ""]] of Object.entries(ids)) {
      expect((await openPage(acme, `/portal/${kind}/${ownId}`)).status).toBe(200);
      const unknown = await pageOf(`/portal/${kind}/${nobodys}`);
      expect(unknown[0]).toBe(404);
      expect(await pageOf(`/portal/${kind}/${ownId}`)).toEqual(unknown);
      expect(await pageOf(`/portal/deadlines/${ownId}`)).toEqual(await pageOf(`/portal/deadlines/${nobodys}`));
    }
  });
});

describe("certificates", () => {
  test("have views that are URLs: a colleague who opens one sees the same list", async () => {
    const purpose = `view ${crypto.randomUUID()}`;
    await issueCertificate({ purpose });
    const listMarkedViews = async (member: Member, path: string): Promise<readonly string[]> => {
      const views = findByTagName((await openPage(member, path)).document, "nav").find(({ attribs }) => attribs["aria-label"] === "Views");
      const current = findByTagName(views as never, "a").filter(({ attribs }) => attribs["aria-current"] === "page");
      return current.map(({ attribs }) => attribs.href as string);
    };
    for (const path of ["/portal/certificates", "/portal/certificates?status=active", "/portal/certificates?status=revoked"])
      expect(await listMarkedViews(colleague, path)).toEqual([path]);
    expect(await listMarkedViews(colleague, "/portal/test/certificates?status=active")).toEqual([
      "/portal/test/certificates?status=active",
    ]);
    const ownPath = `/portal/certificates?${new URLSearchParams({ purpose })}`;
    for (const member of [acme, colleague]) {
      const page = extractWords((await openPage(member, ownPath)).document);
      expect(page).toContain("1–1 of 1, newest first");
      expect(page).toContain("Save this view");
      expect(await listMarkedViews(member, ownPath)).toEqual([ownPath]);
    }
    expect(extractWords((await openPage(acme, "/portal/certificates")).document)).not.toContain("Save this view");
  });

  test("keep the filter of the list in its URL, and export the same rows as CSV", async () => {
    const purpose = `=portal ${crypto.randomUUID()}`;
    await issueCertificate({ purpose, fields: { email: "csv@example.com" } });
    await issueCertificate({ purpose, fields: { email: "csv@example.com" } });
    const path = `/portal/certificates?purpose=${encodeURIComponent(purpose)}`;
    expect(extractWords((await openPage(acme, path)).document)).toContain("1–2 of 2, newest first");
    expect(describeRedirect(await openPage(acme, `${path}&status=&website=`))).toMatch(/^303 \/portal\/certificates\?purpose=[^&]+$/);
    expect(extractWords((await openPage(acme, `${path}&status=revoked`)).document)).toContain("No results");
    const before = (await listAuditEntryTypes(world.acme.id)).length;
    const file = await submitForm(acme, path, "/portal/certificates/export");
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toEqual(["list.exported"]);
    expect(file.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const lines = file.text.trim().split("\r\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(`,"'${purpose}",`);
    expect(file.text).not.toContain("csv@example.com");
  });

  test("are found by a person's address, which appears in no URL", async () => {
    const email = `found-${crypto.randomUUID().slice(0, 8)}@example.com`;
    await issueCertificate({ fields: { email } });
    const found = await submitForm(acme, "/portal/certificates", "/portal/certificates/find", { person: email });
    const address = describeRedirect(found).slice(4);
    expect(address).not.toContain("found-");
    expect(extractWords((await openPage(acme, address)).document)).toContain("1–1 of 1");
    expect(extractWords((await openPage(other, address)).document)).toContain("No results");
  });

  test("reveal the person through a form only, which is recorded in the audit chain", async () => {
    const { certId, email } = await issueToNewPerson();
    const path = `/portal/certificates/${certId}`;
    expect((await openPage(acme, path)).text).not.toContain(email);
    expect((await openPage(acme, `${path}/reveal`)).status).toBe(404);
    const before = (await listAuditEntryTypes(world.acme.id)).length;
    const shown = await submitForm(acme, path, `${path}/reveal`);
    expect([shown.status, shown.text.includes(email)]).toEqual([200, true]);
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toContain("certificate.subject_read");
    const pack = await submitForm(acme, path, `${path}/evidence`, { format: "html", redact: "1" });
    expect(pack.headers.get("content-disposition")).toBe(`attachment; filename="evidence-${certId}.html"`);
    expect(pack.text).not.toContain(email);
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toContain("evidence_pack.exported");
  });

  test("show the person's choice for each recipient, and nothing for a recipient that was not offered", async () => {
    const entities = ["Acme Solar LLC", "Bright Homes Inc", "Zenith Roofing"];
    const { certId } = await issueToNewPerson({
      entities,
      entities_accepted: entities.slice(0, 1),
      entities_rejected: entities.slice(1, 2),
    });
    const rows = findByTagName((await openPage(acme, `/portal/certificates/${certId}`)).document, "tr").map(extractWords);
    expect(rows).toEqual(
      expect.arrayContaining(
        ["Acme Solar LLC Allowed", "Bright Homes Inc Declined", "Zenith Roofing Not asked"].map((row) => expect.stringContaining(row)),
      ),
    );
  });
});

describe("one certificate", () => {
  test("says how long details are kept, when it entered the audit log, and who opened its page", async () => {
    const { certId } = await issueToNewPerson();
    await waitUntilSettled();
    const open = (userAgent: string, ip: string) => call(`/c/${certId}`, { headers: { "user-agent": userAgent, "cf-connecting-ip": ip } });
    await open("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1", "203.0.113.24");
    await open("Mozilla/5.0 (compatible; LinkPreviewBot/1.0; +https://preview.example/bot)", "192.0.2.90");
    await waitUntilSettled();
    await getAuditLogStub(firstShard).drainNow(); // adds everything committed so far to the log
    const page = extractWords((await openPage(acme, `/portal/certificates/${certId}`)).document);
    const keptUntil = new Date(Date.now());
    keptUntil.setUTCFullYear(keptUntil.getUTCFullYear() + 5);
    const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }).format(keptUntil);
    expect(page).toContain(`Details kept until ${day}`);
    expect(page).toContain("Recorded in the audit log");
    expect(page).toContain("1 view, 1 bot");
    expect(page).toMatch(/192\.0\.2\.90 Unknown/);
  });
});

describe("the settings of a client", () => {
  const path = `/portal/clients/${world.acme.clients.live}`;
  const edit = (member: Member, urls: string) => submitForm(member, path, path, { return_urls: urls });
  const readReturnUrls = async (): Promise<string> => parseFormFields(await openPage(acme, path), path).return_urls ?? "";

  test("contain return URLs, one per line, which are counted in the list of clients", async () => {
    const before = (await listAuditEntryTypes(world.acme.id)).length;
    const saved = await edit(acme, " https://www.example.com/quote \r\n\r\nhttps://www.example.com/contact\r\n");
    expect(describeRedirect(saved)).toBe(`303 ${path}?done=saved`);
    expect(await readReturnUrls()).toBe("https://www.example.com/quote\nhttps://www.example.com/contact");
    expect((await listAuditEntryTypes(world.acme.id)).slice(before)).toEqual(["client.return_urls_changed"]);
    const rows = findByTagName((await openPage(acme, "/portal/keys")).document, "tr").map(extractWords);
    expect(rows).toContainEqual(expect.stringMatching(/Copy 2 .*Edit$/));
    expect(describeRedirect(await edit(acme, ""))).toBe(`303 ${path}?done=saved`);
    expect(await readReturnUrls()).toBe("");
  });

  test("require an Origin header while an owner has checked the box", async () => {
    const owner = await signUpBusiness("owner@client-settings.example");
    const [client] = (await openPage(owner, "/portal/keys")).text.match(/\/portal\/clients\/pc_live_[a-z0-9]+/) as [string];
    const parseForm = async () => parseFormFields(await openPage(owner, client), client);
    expect((await parseForm()).require_origin).toBeUndefined();
    expect(describeRedirect(await submitForm(owner, client, client, { require_origin: "1" }))).toBe(`303 ${client}?done=saved`);
    const { form = "", require_origin: isRequired } = await parseForm();
    expect(isRequired).toBe("1");
    expect(describeRedirect(await postForm(owner, client, { form }))).toBe(`303 ${client}?done=saved`);
    expect((await parseForm()).require_origin).toBeUndefined();
    expect((await listAuditEntryTypes(owner.id)).filter((type) => type.startsWith("client."))).toEqual([
      "client.require_origin_changed",
      "client.require_origin_changed",
    ]);
  });

  test("are refused next to the field, with what was typed, if a URL is not on a verified domain", async () => {
    const refused = parsePage(await edit(acme, "https://elsewhere.example/quote"));
    expect(refused.status).toBe(400);
    expect(getPageText(refused)).toContain("Each must be a URL on one of your verified domains, without a fragment.");
    expect(refused.text).toMatch(/<textarea[^>]*aria-invalid="true"[^>]*>https:\/\/elsewhere\.example\/quote<\/textarea>/);
    expect(await readReturnUrls()).toBe("");
  });

  test("are not shown to other businesses or in the other environment", async () => {
    for (const [member, at] of [
      [other, path],
      [acme, path.replace("/portal/", "/portal/test/")],
    ] as const)
      expect((await openPage(member, at)).status).toBe(404);
  });
});

describe("settings", () => {
  test("show a verified website in the preview of the business", async () => {
    expect(extractWords((await openPage(acme, "/portal/settings")).document)).toMatch(
      /How people see you AS Acme Solar LLC \S+ · verified/,
    );
    expect(extractWords((await openPage(other, "/portal/settings")).document)).not.toContain("· verified");
  });
});

describe("deadlines", () => {
  test("list a withdrawal until a member acknowledges that contact has ended", async () => {
    const { certId, manageToken } = await issueToNewPerson();
    expect((await call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: manageToken }))).status).toBe(200);
    expect((await openPage(acme, "/portal/deadlines")).text).toContain(`/portal/deadlines/${certId}`);
    const path = `/portal/deadlines/${certId}`;
    const long = await submitForm(acme, path, path, { note: "n".repeat(501), "action.told": "1" });
    expect([long.status, getPageText(long)]).toEqual([400, expect.stringContaining("Use up to 500 characters.")]);
    expect(long.text).toContain("n".repeat(501));
    expect(describeRedirect(await submitForm(acme, path, path, { note: "done", "action.told": "1" }))).toBe(
      "303 /portal/deadlines?done=acknowledged",
    );
    expect((await openPage(acme, "/portal/deadlines")).text).not.toContain(certId);
    const { body } = await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live);
    expect(body.data.withdrawal.acknowledgement).toEqual({ note: "done", acknowledged_by: null, actions: ["Notified the recipients"] });
    expect(extractWords((await openPage(acme, path)).document)).toContain("Confirmed on");
  });

  test("list the recipients of a certificate that is still active, until they have ended contact", async () => {
    const { certId, manageToken: token } = await issueToNewPerson();
    const withdrawFrom = (entity: string) => call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token, entities: [entity] }));
    expect((await withdrawFrom("Bright Homes Inc")).status).toBe(200);
    const listRows = async (member: Member, mode = ""): Promise<readonly string[]> =>
      findByTagName((await openPage(member, `/portal${mode}/deadlines`)).document, "tr").flatMap((row) =>
        DomUtils.getOuterHTML(row).includes(certId) ? [extractWords(row)] : [],
      );
    expect(await listRows(acme)).toEqual([expect.stringContaining("Some recipients on a certificate")]);
    expect(await listRows(other)).toEqual([]);
    expect(await listRows(acme, "/test")).toEqual([]);
    const path = `/portal/deadlines/${certId}`;
    const pageText = extractWords((await openPage(acme, path)).document);
    expect(pageText).toContain("For these recipients: Bright Homes Inc");
    expect(describeRedirect(await submitForm(acme, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
    expect(await listRows(acme)).toEqual([]);
    // Withdraws the last recipient, and therefore the whole certificate.
    expect((await withdrawFrom("Acme Solar LLC")).status).toBe(200);
    expect(await listRows(acme)).not.toEqual([]);
    expect(describeRedirect(await submitForm(acme, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
    expect(await listRows(acme)).toEqual([]);
  });

  test("name on the certificate only the recipients that have not ended contact", async () => {
    const entities = ["Acme Solar LLC", "Bright Homes Inc", "Sunny Roofs Inc"];
    const { certId, manageToken: token } = await issueToNewPerson({ entities });
    const withdrawFrom = (entity: string) => call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token, entities: [entity] }));
    const path = `/portal/deadlines/${certId}`;
    expect((await withdrawFrom("Bright Homes Inc")).status).toBe(200);
    expect(describeRedirect(await submitForm(acme, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
    expect((await withdrawFrom("Sunny Roofs Inc")).status).toBe(200);
    const pageText = extractWords((await openPage(acme, `/portal/certificates/${certId}`)).document);
    expect(pageText).toContain("Sunny Roofs Inc must stop contacting this person by the end of");
    expect(pageText).not.toContain("2 recipients");
  });

  test("are confirmed only for what the member saw", async () => {
    const { certId, manageToken: token } = await issueToNewPerson();
    const withdrawFrom = (entity: string) => call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token, entities: [entity] }));
    expect((await withdrawFrom("Bright Homes Inc")).status).toBe(200);
    const path = `/portal/deadlines/${certId}`;
    const shown = parseFormFields(await openPage(colleague, path), path);
    // While the member reads the form, the person withdraws from the last recipient, and therefore the whole certificate.
    expect((await withdrawFrom("Acme Solar LLC")).status).toBe(200);
    const refused = await postForm(colleague, path, { ...shown, note: "called them" });
    expect([refused.status, getPageText(refused)]).toEqual([
      409,
      expect.stringContaining("This withdrawal changed after you opened the page"),
    ]);
    expect(refused.text).toContain("called them");
    const { body } = await getWithKey(`/v1/certs/${certId}`, world.acme.keys.live);
    expect(body.data.withdrawal.cease_acknowledged_at).toBeNull();
    const current = parseFormFields(parsePage(refused), path);
    expect(describeRedirect(await postForm(colleague, path, current))).toBe("303 /portal/deadlines?done=acknowledged");
  });

  test("are counted beside Withdrawals on every page of their environment", async () => {
    const countOn = async (path: string): Promise<number> => {
      const [entry] = findByTagName((await openPage(colleague, path)).document, "a").filter((link) =>
        extractWords(link).startsWith("Withdrawals"),
      );
      return Number(/(\d+) to confirm$/.exec(entry === undefined ? "" : extractWords(entry))?.[1] ?? 0);
    };
    const before = await countOn("/portal/events");
    const inTestMode = await countOn("/portal/test/events");
    const fullyWithdrawn = await issueToNewPerson();
    const single = await issueToNewPerson();
    const withdraw = ({ certId, manageToken: token }: typeof fullyWithdrawn, entities?: string[]) =>
      call(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token, ...(entities !== undefined && { entities }) }));
    expect((await withdraw(fullyWithdrawn)).status).toBe(200);
    expect((await withdraw(single, ["Bright Homes Inc"])).status).toBe(200);
    const giver = await signInPerson();
    const { share } = await grantShare(giver).then(async (granted) => {
      await redeemCode(granted);
      return granted;
    });
    expect((await giver.post(`/v1/shares/${share.id}/revoke`, {})).status).toBe(200);
    for (const path of ["/portal/events", "/portal/deadlines", "/portal/keys", `/portal/certificates/${fullyWithdrawn.certId}`])
      expect(await countOn(path), path).toBe(before + 3);
    expect(await countOn("/portal/test/events")).toBe(inTestMode);
    for (const [index, id] of [fullyWithdrawn.certId, single.certId, share.id].entries()) {
      const path = `/portal/deadlines/${id}`;
      expect(describeRedirect(await submitForm(acme, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
      expect(await countOn("/portal/events")).toBe(before + 2 - index);
    }
  });

  test("show on a share's page how long it lasts, and its history", async () => {
    const { share } = await grantShare(await signInPerson(), { duration_days: 5 });
    const words = extractWords((await openPage(acme, `/portal/shares/${share.id}`)).document);
    expect(words).toMatch(/Ends in [45] days/);
    expect(words).toContain("Ends automatically");
    const { share: lasting } = await grantShare(await signInPerson(), { duration_days: 30 });
    expect(extractWords((await openPage(acme, `/portal/shares/${lasting.id}`)).document)).not.toContain("Ends in");
  });

  test("list a stopped share", async () => {
    const giver = await signInPerson();
    const granted = await grantShare(giver);
    await redeemCode(granted);
    const id = granted.share.share_id ?? granted.share.id;
    expect((await giver.post(`/v1/shares/${id}/revoke`, {})).status).toBe(200);
    const path = `/portal/deadlines/${id}`;
    expect(describeRedirect(await submitForm(acme, path, path))).toBe("303 /portal/deadlines?done=acknowledged");
    expect(extractWords((await openPage(acme, `/portal/shares/${id}`)).document)).toContain("Contact ended");
  });
});

describe("secrets that are shown once", () => {
  test("show a key in the response to its form and not when it is sent again", async () => {
    const form = parseFormFields(await openPage(other, "/portal/keys"), "/portal/keys");
    const fields = { ...form, key_name: "CRM" };
    const created = await postForm(other, "/portal/keys", fields);
    const key = /sk_live_[A-Za-z0-9_-]{40,}/.exec(created.text)?.[0] as string;
    expect((await getWithKey("/v1/certs", key)).status).toBe(200);
    const repeated = await postForm(other, "/portal/keys", fields);
    expect(getPageText(repeated)).toContain("This secret was already shown");
    expect(repeated.text).not.toContain(key);
    const list = await openPage(other, "/portal/keys");
    expect(list.text).not.toContain(key);
    const action = /\/portal\/keys\/key_[a-z0-9]+\/remove/.exec(list.text)?.[0] as string;
    expect(describeRedirect(await submitForm(other, action, action))).toBe("303 /portal/keys?done=removed");
    expect((await getWithKey("/v1/certs", key)).status).toBe(401);
  });

  test("show the secret of a webhook endpoint and of its rotation once, even when submitted several times", async () => {
    const bad = await submitForm(other, "/portal/webhooks/new", "/portal/webhooks", { url: "http://10.0.0.1/x" });
    expect([bad.status, bad.text.includes("http://10.0.0.1/x")]).toEqual([400, true]);
    const created = await submitForm(other, "/portal/webhooks/new", "/portal/webhooks", { url: "https://hooks.example.com/in" });
    expect(created.text).toMatch(/whsec_[A-Za-z0-9+/=]{20,}/);
    const path = /\/portal\/webhooks\/whk_[a-z0-9]+/.exec(created.text)?.[0] as string;
    const page = await openPage(other, path);
    expect(page.text).not.toMatch(/whsec_[A-Za-z0-9+/=]{20,}/);
    const rotation = parseFormFields(await openPage(other, `${path}/rotate`), `${path}/rotate`);
    expect((await postForm(other, `${path}/rotate`, rotation)).text).toMatch(/whsec_[A-Za-z0-9+/=]{20,}/);
    expect(getPageText(await postForm(other, `${path}/rotate`, rotation))).toContain("This secret was already shown");
    expect((await openPage(acme, path)).status).toBe(404);
    expect(describeRedirect(await submitForm(other, path, `${path}/status`))).toBe(`303 ${path}?done=saved`);
    expect(describeRedirect(await submitForm(other, `${path}/remove`, `${path}/remove`))).toBe("303 /portal/webhooks?done=removed");
  });
});

test("adds a domain, shows three verification methods, and removes it", async () => {
  const bad = await submitForm(other, "/portal/domains", "/portal/domains", { domain: "not a domain" });
  expect([bad.status, bad.text.includes('value="not a domain"')]).toEqual([400, true]);
  const claimed = await submitForm(other, "/portal/domains", "/portal/domains", { domain: "second-portal.example" });
  const path = describeRedirect(claimed).slice(4).split("?")[0] as string;
  const page = extractWords((await openPage(other, path)).document);
  for (const part of ["_svc-challenge.second-portal.example", "/.well-known/svc-verification.txt", "svc-site-verification"])
    expect(page).toContain(part);
  const unverified = await submitForm(other, path, `${path}/verify`);
  expect(unverified.status).toBe(409);
  expect((await openPage(acme, path)).status).toBe(404);
  expect(describeRedirect(await submitForm(other, `${path}/remove`, `${path}/remove`))).toBe("303 /portal/domains?done=removed");
});

test("keeps an owner in every team, and says so instead of showing a button", async () => {
  const team = await openPage(other, "/portal/team");
  expect(extractWords(team.document).split("Every business needs an owner.")).toHaveLength(2);
  const leave = await openPage(other, "/portal/team/leave");
  expect([leave.status, extractWords(leave.document)]).toEqual([200, expect.stringContaining("You’re the only owner")]);
  expect(leave.text).not.toContain('action="/portal/team/leave"');
  const clerkRole = /\/portal\/team\/mem_[a-z0-9]+\/role/.exec(team.text)?.[0] as string;
  expect(describeRedirect(await submitForm(other, "/portal/team", clerkRole))).toBe("303 /portal/team?done=saved");
});

test("shows the phone number of a business in its international form, however it was typed", async () => {
  await submitForm(other, "/portal/settings", "/portal/settings/profile", { contact_phone: "1-800-FLOWERS" });
  expect(extractWords((await openPage(other, "/portal/settings")).document)).toContain("+1 800 356 9377");
});

test("keeps the input of the whole profile and focuses the invalid field", async () => {
  const bad = await submitForm(other, "/portal/settings", "/portal/settings/profile", {
    contact_email: "none",
    legal_name: "Portal Pages Inc",
  });
  expect([bad.status, bad.text.includes("Portal Pages Inc")]).toEqual([400, true]);
  expect([...bad.text.matchAll(/<[^>]* autofocus[^>]*>/g)].map(String)).toEqual([
    expect.stringMatching(/^<input id="contact_email".* aria-invalid="true"/),
  ]);
  const saved = await submitForm(other, "/portal/settings", "/portal/settings/profile", { legal_name: "Portal Pages Inc" });
  expect(describeRedirect(saved)).toBe("303 /portal/settings?done=saved");
  expect((await openPage(other, "/portal/settings")).text).toContain("Portal Pages Inc");
});

describe("account status", () => {
  const setStatus = (status: string) =>
    env.DB.prepare("UPDATE businesses SET status = ?, revision = revision + 1 WHERE id = ?").bind(status, other.id).run();

  test("allows reading but not changing while past due", async () => {
    const form = parseFormFields(await openPage(other, "/portal/domains"), "/portal/domains");
    await setStatus("past_due");
    const before = await readDatabaseContents();
    for (const path of livePaths) {
      const { status, document } = await openPage(other, path);
      const primary = findByTagName(document, "a").filter(({ attribs }) => attribs.class === "btn primary");
      expect([path, status, ...primary.map(extractWords)]).toEqual([path, 200, "Pay now"]);
    }
    expect((await openPage(other, "/portal/domains")).text).not.toContain('action="/portal/domains"');
    const refused = await postForm(other, "/portal/domains", { ...form, domain: "later.example" });
    expect([refused.status, getPageText(refused)]).toEqual([
      402,
      expect.stringContaining("Your payment is past due. You can make changes once you’ve paid."),
    ]);
    expect(await readDatabaseContents()).toEqual(before);
    await setStatus("active");
  });

  test("shows only the way to pay while suspended", async () => {
    const form = parseFormFields(await openPage(other, "/portal/domains"), "/portal/domains");
    await setStatus("suspended");
    for (const path of livePaths.filter((one) => one !== "/portal/billing" && one !== "/portal/businesses")) {
      const page = await openPage(other, path);
      expect([path, page.status, extractWords(page.document)]).toEqual([path, 402, expect.stringContaining("This account is suspended")]);
    }
    expect((await openPage(other, "/portal/billing")).status).toBe(200);
    expect((await postForm(other, "/portal/domains", { ...form, domain: "later.example" })).status).toBe(402);
    await setStatus("active");
  });
});

test("creates a tag for a verified page only, and keeps the input", async () => {
  const fields = { url: "https://elsewhere.example/form", purpose: "solar quote", entities: "Acme Solar LLC", mode: "consent" };
  const refused = await submitForm(acme, "/portal/snippet", "/portal/snippet", fields);
  expect([refused.status, refused.text.includes(fields.url)]).toEqual([403, true]);
});
