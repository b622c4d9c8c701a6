// Tests the link in a sign-in email: what it does in the browser that requested it and in any other browser, and that opening its page
// alone does nothing.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Realm } from "../../core/access/session.ts";
import { createBrowserSession, describeRedirect, getPageText, parsePage, type BrowserSession } from "../support/browser-session.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { buildJsonRequest, clearCodes, createDifferentCode, findEmailCode, listMailTo } from "../support/people.ts";
import { signUp } from "../support/portal.ts";
import { call, countRows, readDatabaseContents, world } from "../support/world.ts";
import { findByTagName, read, withAttribute } from "./page.ts";

const minute = 60_000;
const paths = { consumer: "/app/sign-in", business: "/portal/sign-in" } as const;
const linkPaths = { consumer: "/app/sign-in/link", business: "/portal/sign-in/link" } as const;
const emails = { consumer: world.consumerEmail, business: world.ownerEmail } as const;
const realms = ["consumer", "business"] as const;

beforeEach(clearCodes);
afterEach(() => {
  vi.useRealTimers();
});

/** Returns the sign-in links in the emails to an address, newest first. */
const findLinks = async (email: string): Promise<readonly URL[]> => {
  await waitUntilSettled();
  const mails = await listMailTo(email);
  return mails.flatMap(({ text }) => /https?:\S+#s=[A-Za-z0-9_-]{43}$/m.exec(text)?.[0] ?? []).map((link) => new URL(link));
};
const findToken = async (email: string): Promise<string> => ((await findLinks(email))[0] as URL).hash.slice("#s=".length);

/** Enters the address on the sign-in page and returns the browser. */
const requestLink = async (realm: Realm, email: string = emails[realm], browser = createBrowserSession()): Promise<BrowserSession> => {
  await browser.post(paths[realm], { email, next: realm === "consumer" ? "/app/details" : "/portal/team" });
  return browser;
};
const press = async (browser: BrowserSession, realm: Realm, token: string) => browser.post(linkPaths[realm], { token });
const getSignedInEmail = async ({ jar }: BrowserSession): Promise<string | number> => {
  const { status, body } = await call("/v1/auth/session", { headers: { cookie: `svc_session=${jar.get("svc_session")}` } });
  return status === 200 ? body.data.email : status;
};

describe.each(realms)("the link in a sign-in email (%s)", (realm) => {
  const email = emails[realm];

  test("leads to the sign-in page of its realm and keeps its token in the fragment", async () => {
    await requestLink(realm);
    const [link] = await findLinks(email);
    expect([link?.pathname, link?.search]).toEqual([linkPaths[realm], ""]);
    expect((await listMailTo(email))[0]?.text).toMatch(/^\d{6}$/m);
  });

  test("signs in after a click in the browser that requested it, and continues to the page that asked the person to sign in", async () => {
    const browser = await requestLink(realm);
    const token = await findToken(email);
    const page = await browser.open(linkPaths[realm]);
    expect(getPageText(page)).toContain(`You asked to sign in as ${email}`);
    const response = await browser.send(page, linkPaths[realm], { token });
    expect(describeRedirect(response)).toBe(`303 ${realm === "consumer" ? "/app/details" : "/portal/team"}`);
    expect(await getSignedInEmail(browser)).toBe(email);
  });

  test("does nothing when it is opened, in any browser and by any method of a mail scanner", async () => {
    const browser = await requestLink(realm);
    const token = await findToken(email);
    await waitUntilSettled();
    const before = await readDatabaseContents();
    for (const path of [linkPaths[realm], `${linkPaths[realm]}?s=${token}`, `${linkPaths[realm]}?token=${token}`]) {
      expect((await browser.open(path)).status).toBe(200);
      expect((await createBrowserSession().open(path)).status).toBe(200);
      expect((await call(path, { method: "HEAD" })).status).toBe(200);
    }
    await waitUntilSettled();
    expect(await readDatabaseContents()).toEqual(before);
    expect(await getSignedInEmail(browser)).toBe(401);
  });

  test("does not sign in a browser that did not request it, and asks for the code there", async () => {
    const asking = await requestLink(realm);
    const token = await findToken(email);
    const another = createBrowserSession();
    const page = await another.open(linkPaths[realm]);
    expect(withAttribute(page.document, "id", "sign-in-link")).toEqual([]);
    expect(getPageText(page)).toContain("works only in the browser where you requested it");
    expect(describeRedirect(await press(another, realm, token))).toBe(`303 ${linkPaths[realm]}?outcome=failed`);
    expect(another.jar.has("svc_session")).toBe(false);
    // A browser that requested a sign-in code of its own still cannot use this link.
    vi.setSystemTime(Date.now() + minute);
    const stranger = await requestLink(realm);
    await press(stranger, realm, token);
    expect(stranger.jar.has("svc_session")).toBe(false);
    await press(asking, realm, token);
    expect(await getSignedInEmail(asking)).toBe(email);
  });

  test("does not help a stranger who requested it, even if the mailbox's owner opens and uses it", async () => {
    const stranger = await requestLink(realm);
    const owner = createBrowserSession();
    await press(owner, realm, await findToken(email));
    expect([owner.jar.has("svc_session"), await getSignedInEmail(stranger)]).toEqual([false, 401]);
  });

  test("can be replaced by the typed code in another browser, where a wrong code does not count against the requesting browser", async () => {
    const asking = await requestLink(realm);
    const code = await findEmailCode(email);
    const another = createBrowserSession();
    const otherPath = `${paths[realm]}/elsewhere`;
    for (const [fields, message] of [
      [{ email: "pat", code }, "email address, such as"],
      [{ email, code: "12" }, "digit code."],
      [{ email, code: createDifferentCode(code) }, "That code is incorrect or has expired"],
    ] as const) {
      const refused = await another.send(await another.open(linkPaths[realm]), otherPath, fields);
      expect(getPageText(parsePage(refused))).toContain(message);
      expect(withAttribute(parsePage(refused).document, "name", "email")[0]?.attribs.value).toBe(fields.email);
    }
    expect(another.jar.has("svc_session")).toBe(false);
    await another.send(await another.open(linkPaths[realm]), otherPath, { email, code });
    expect(await getSignedInEmail(another)).toBe(email);
    expect(await getSignedInEmail(asking)).toBe(401);
  });

  test("works once, only for ten minutes, and not after the code was used", async () => {
    const browser = await requestLink(realm);
    const token = await findToken(email);
    await press(browser, realm, token);
    expect(await getSignedInEmail(browser)).toBe(email);
    for (const session of [browser, await requestLink(realm)]) {
      session.jar.delete("svc_session");
      await press(session, realm, token);
      expect(session.jar.has("svc_session")).toBe(false);
    }
    await clearCodes();
    const expired = await requestLink(realm);
    const late = await findToken(email);
    vi.setSystemTime(Date.now() + 10 * minute);
    expect(describeRedirect(await press(expired, realm, late))).toBe(`303 ${linkPaths[realm]}?outcome=failed`);
    expect(expired.jar.has("svc_session")).toBe(false);
  });

  test("in an earlier email works after the same browser requested another", async () => {
    const start = Date.now();
    vi.setSystemTime(start);
    const browser = await requestLink(realm);
    const earlier = await findToken(email);
    vi.setSystemTime(start + minute);
    await requestLink(realm, email, browser);
    expect(await findToken(email)).not.toBe(earlier);
    await press(browser, realm, earlier);
    expect(await getSignedInEmail(browser)).toBe(email);
  });

  test("works after the browser has used up its attempts with wrong codes", async () => {
    const browser = await requestLink(realm);
    const code = await findEmailCode(email);
    const codePath = realm === "consumer" ? "/app/code" : "/portal/sign-in/code";
    for (let attempt = 0; attempt < 6; attempt += 1) await browser.post(codePath, { code: createDifferentCode(code) });
    await browser.post(codePath, { code });
    expect(browser.jar.has("svc_session")).toBe(false);
    await press(browser, realm, await findToken(email));
    expect(await getSignedInEmail(browser)).toBe(email);
  });

  test("is refused with a wrong token, on the other realm's page and from another site", async () => {
    const browser = await requestLink(realm);
    const token = await findToken(email);
    const other = realm === "consumer" ? "business" : "consumer";
    await press(browser, realm, `${token.slice(0, -1)}${token.endsWith("A") ? "E" : "A"}`);
    await press(browser, realm, "");
    await press(browser, other, token);
    expect((await browser.post(linkPaths[realm], { token }, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect(browser.jar.has("svc_session")).toBe(false);
  });

  test("is neither in the database nor in a log", async () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
    const browser = await requestLink(realm);
    const token = await findToken(email);
    await env.DB.prepare("DELETE FROM captured_mail").run();
    await press(browser, realm, token);
    await waitUntilSettled();
    expect(JSON.stringify(await readDatabaseContents())).not.toContain(token);
    expect(JSON.stringify(log.mock.calls)).not.toContain(token);
    expect(JSON.stringify(log.mock.calls)).not.toContain(email);
    log.mockRestore();
  });

  test("requested through the API works in the browser that sent the request", async () => {
    const browser = createBrowserSession();
    const response = await call("/v1/auth/request-code", buildJsonRequest({ email, realm }));
    browser.jar.set("svc_sign_in", (response.headers.get("set-cookie") ?? "").split(";")[0]?.slice("svc_sign_in=".length) as string);
    await press(browser, realm, await findToken(email));
    expect(await getSignedInEmail(browser)).toBe(email);
  });

  test("has a fragment that still works after a gateway encodes it", async () => {
    const response = await call(`${linkPaths[realm]}%23s=abc`, { redirect: "manual" });
    expect(describeRedirect(response)).toBe(`302 ${linkPaths[realm]}#s=abc`);
  });
});

describe("a link for a new person", () => {
  test("creates the consumer account with the address as it was typed", async () => {
    const email = "New.Person@link.example";
    const browser = await requestLink("consumer", email);
    await press(browser, "consumer", await findToken(email));
    expect(await getSignedInEmail(browser)).toBe(email);
  });

  test("opens the business account of a sign-up in the browser that signed up, and in no other", async () => {
    const email = "owner@linked-roofs.example";
    const before = await countRows(["businesses"]);
    await signUp(email);
    const token = await findToken(email);
    const another = createBrowserSession();
    await press(another, "business", token);
    expect(await countRows(["businesses"])).toEqual(before);
    await clearCodes();
    const browser = createBrowserSession();
    await browser.post("/portal/sign-up", { business_name: "Linked Roofs", email, website: "", country: "US" });
    expect(describeRedirect(await press(browser, "business", await findToken(email)))).toBe("303 /portal");
    expect(await getSignedInEmail(browser)).toBe(email);
  });
});

describe("a person who is signed in", () => {
  test("sees that the link was already used when it is opened again", async () => {
    const browser = await requestLink("consumer");
    await press(browser, "consumer", await findToken(emails.consumer));
    expect(getPageText(await browser.open(linkPaths.consumer))).toContain("You’re signed in");
    const member = await requestLink("business");
    await press(member, "business", await findToken(emails.business));
    expect(describeRedirect(await member.open(linkPaths.business))).toBe("303 /portal");
  });
});

test("the page of the link is in the person's language", async () => {
  const page = await read(`${linkPaths.consumer}?lang=fr-CA`);
  expect(findByTagName(page.document, "html")[0]?.attribs.lang).toBe("fr-CA");
  expect(getPageText(page)).toContain("Entrez le code reçu par courriel");
});
