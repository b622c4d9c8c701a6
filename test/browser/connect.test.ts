// Tests connecting an agent in a real browser. A client registers itself, opens the page, and receives the result through a redirect to the
// user's machine or in the opener window. Every step is checked with axe and for horizontal scrolling.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { findEmailCode, createToken, signInToService } from "../support/assistants.ts";
import { findAccessibilityIssues, hasNoHorizontalScroll, openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });
let program: Server;
const getClientOrigin = (): string => `http://127.0.0.1:${(program.address() as AddressInfo).port}`;
const getCallbackUrl = (): string => `${getClientOrigin()}/callback`;

/**
 * Builds the pages of a client that runs on the user's machine: a callback page that posts its query to the opener, and a page that shows
 * the service in a frame.
 */
const renderClientPage = (url: URL): string => {
  if (url.pathname === "/frame") return `<iframe title="framed" src="${url.searchParams.get("src")?.replaceAll("&", "&amp;")}"></iframe>`;
  if (url.pathname !== "/callback") return "<p>A program</p>";
  return '<p id="back">Back</p><script>window.opener?.postMessage(location.search, location.origin)</script>';
};

beforeAll(async () => {
  program = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>Program</title>${renderClientPage(url)}`);
  });
  await new Promise<void>((resolve) => program.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  program.close();
});

const verifier = "x".repeat(43);

const registerClient = async (body: object = {}): Promise<string> => {
  const response = await fetch(`${service.origin}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Desk Helper", redirect_uris: [getCallbackUrl()], ...body }),
  });
  return ((await response.json()) as { client_id: string }).client_id;
};

const createAuthorizationUrl = async (changes: Record<string, string> = {}, registration: object = {}): Promise<string> =>
  `${service.origin}/oauth/authorize?${new URLSearchParams({
    response_type: "code",
    client_id: await registerClient(registration),
    redirect_uri: getCallbackUrl(),
    code_challenge: computeCodeChallenge(verifier),
    code_challenge_method: "S256",
    state: "kept by the program",
    resource: `${service.origin}/mcp`,
    ...changes,
  })}`;

const checkPage = async (page: Page): Promise<void> => {
  expect(await findAccessibilityIssues(page)).toEqual([]);
  expect(await hasNoHorizontalScroll(page)).toBe(true);
};

/** Signs in and continues to the decision without deciding. */
const continueToDecision = async (page: Page, email: string, look: (page: Page) => Promise<void> = checkPage): Promise<void> => {
  await page.waitForSelector("#connect-email");
  await look(page);
  await page.fill("#connect-email", email);
  await page.click('button[value="consumer"]');
  await page.waitForSelector("#connect-code");
  await look(page);
  await page.fill("#connect-code", await findEmailCode(service, email));
  await page.click("button.primary");
  await page.waitForSelector('button[value="deny"]');
  await look(page);
};

const createEmail = (): string => `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;

const exchangeCode = async (clientId: string, redirect: URL): Promise<string> => {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code: redirect.searchParams.get("code") ?? "",
    client_id: clientId,
    redirect_uri: getCallbackUrl(),
    code_verifier: verifier,
  });
  const response = await fetch(`${service.origin}/oauth/token`, { method: "POST", body });
  return ((await response.json()) as { access_token: string }).access_token;
};

/** Calls a tool with this token and returns the HTTP status. */
const callTool = async (token: string): Promise<number> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "svc_list_shares" } });
  return (await fetch(`${service.origin}/mcp`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body })).status;
};

const widths: Readonly<Record<string, BrowserContextOptions>> = {
  "at a desk": { viewport: { width: 1_100, height: 900 } },
  "on a phone": { viewport: { width: 360, height: 640 } },
  "in dark mode, in Spanish": { viewport: { width: 900, height: 900 }, colorScheme: "dark", locale: "es" },
};

describe.each(Object.entries(widths))("connecting %s", (_, options) => {
  test("sends the code to the client on the user's machine, which exchanges it for a token", async () => {
    const { page, problems, close } = await openPage(browser, options);
    const address = await createAuthorizationUrl();
    await page.goto(address);
    await continueToDecision(page, createEmail());
    await page.click('button[value="allow"]');
    await page.waitForSelector("#back");
    const redirect = new URL(page.url());
    expect(redirect.href.startsWith(`${getCallbackUrl()}?`)).toBe(true);
    expect([redirect.searchParams.get("state"), redirect.searchParams.get("iss")]).toEqual(["kept by the program", service.origin]);
    const token = await exchangeCode(new URL(address).searchParams.get("client_id") as string, redirect);
    expect(await callTool(token)).toBe(200);
    expect(problems).toEqual([]);
    await close();
  });
});

describe("the connect page", () => {
  test("keeps its opener while the user signs in, and sends the result to it", async () => {
    const { page, problems, close } = await openPage(browser);
    await page.goto(getClientOrigin());
    const address = await createAuthorizationUrl();
    const [popup] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate((url) => {
        window.addEventListener("message", ({ data }) => {
          document.title = data;
        });
        window.open(url, "connect", "popup,width=480,height=700");
      }, address),
    ]);
    await continueToDecision(popup, createEmail());
    expect(await page.title()).toBe("Program");
    await popup.click('button[value="allow"]');
    await page.waitForFunction(() => document.title !== "Program");
    expect(new URLSearchParams(await page.title()).get("code")).toMatch(/^oac_/);
    expect(problems).toEqual([]);
    await close();
  });

  test("works without scripts, and returns access_denied to the client when the user declines", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(await createAuthorizationUrl());
    await continueToDecision(page, createEmail(), async () => undefined);
    await page.click('button[value="deny"]');
    await page.waitForURL(`${getCallbackUrl()}?**`);
    expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied");
    expect(new URL(page.url()).searchParams.get("code")).toBeNull();
    await close();
  });

  test("does not load in another page's frame", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${getClientOrigin()}/frame?src=${encodeURIComponent(await createAuthorizationUrl())}`);
    const [, framed] = page.frames();
    await expect.poll(() => framed?.evaluate(() => document.URL)).toMatch(/^chrome-error:/);
    expect(await framed?.locator("#connect-email").count()).toBe(0);
    await close();
  });

  test("leads to an app on the device with a Refresh header and a link", async () => {
    const cursor = "cursor://anysphere.cursor-mcp/oauth/callback";
    const { page, close } = await openPage(browser, widths["on a phone"]);
    await page.goto(await createAuthorizationUrl({ redirect_uri: cursor }, { client_name: "Cursor", redirect_uris: [cursor] }));
    await continueToDecision(page, createEmail());
    expect(await page.locator("h1").textContent()).toBe("Connect Cursor to svc?");
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith("/oauth/authorize/decide") || response.url().includes("/decide?")),
      page.click('button[value="allow"]'),
    ]);
    expect([answer.status(), answer.headers().refresh?.startsWith(`0; url=${cursor}?code=oac_`)]).toEqual([200, true]);
    await page.waitForSelector(`a[href^="${cursor}"]`);
    await checkPage(page);
    await close();
  });

  test("lets a user with ten connected agents disconnect one and then allow a new one", async () => {
    const { page, problems, close } = await openPage(browser, widths["on a phone"]);
    const cookie = await signInToService(service, "consumer", service.world.consumerEmail);
    for (let at = 0; at < 10; at += 1) await createToken(service, "consumer", cookie);
    const [name = "", value = ""] = cookie.split("=");
    await page.context().addCookies([{ name, value, url: service.origin }]);
    await page.goto(await createAuthorizationUrl());
    await page.waitForSelector("#live");
    await checkPage(page);
    expect(await page.locator('button[value="allow"]').count()).toBe(0);
    await page.locator('input[name="token_id"] + button').first().click();
    await page.click('button[value="allow"]');
    await page.waitForSelector("#back");
    expect(problems).toEqual([]);
    await close();
  });

  test("explains an invalid request, links back only to a registered URI, and disconnects an agent with the emailed link", async () => {
    const { page, close } = await openPage(browser, widths["on a phone"]);
    await page.goto(await createAuthorizationUrl({ code_challenge_method: "plain" }));
    await checkPage(page);
    expect(await page.locator(`a[href^="${getCallbackUrl()}?error=invalid_request"]`).count()).toBe(1);
    await page.goto(await createAuthorizationUrl({ redirect_uri: "https://evil.example/cb" }));
    await checkPage(page);
    expect(await page.locator("main a").count()).toBe(0);
    const email = createEmail();
    const address = await createAuthorizationUrl();
    await page.goto(address);
    await continueToDecision(page, email);
    await page.click('button[value="allow"]');
    await page.waitForSelector("#back");
    const token = await exchangeCode(new URL(address).searchParams.get("client_id") as string, new URL(page.url()));
    const { messages } = (await (await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`)).json()) as {
      messages: { text: string }[];
    };
    const link = /https?:\/\/\S+\/oauth\/end\/\S+/.exec(messages.map(({ text }) => text).join("\n"))?.[0] ?? "";
    await page.goto(link);
    await checkPage(page);
    expect(await callTool(token)).toBe(200);
    await page.click("main button.primary");
    await page.waitForSelector("h1");
    await checkPage(page);
    expect(await callTool(token)).toBe(401);
    await close();
  });
});
