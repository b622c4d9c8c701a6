// Tests sharing from the demo business's page with the whole local service: the button, the real consent sheet, and the filled-in form. The
// result returns in one of three ways: as a message to the opener, through a redirect to the page if the sheet has lost its opener, or
// through a link if scripts are off.
import { describe, expect, test } from "vitest";
import type { BrowserContextOptions, Page, Request } from "playwright-core";
import { findAccessibilityIssues, hasNoHorizontalScroll, openPage, type OpenPage } from "../support/browser.ts";
import { type Device, openDevice } from "../support/device.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findEmailCode, signInBrowser } from "../support/local-session.ts";
import {
  shareButtonSelector,
  waitUntilClosed,
  readFormValues,
  type ReceivedEvent,
  recordEvents,
  letTimersRun,
  waitUntilClickable,
} from "../support/share-visit.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

const findCode = (email: string): Promise<string> => findEmailCode(service.origin, email);

interface Visit extends OpenPage {
  /** The events that the business's pages received, including those received after a reload. */
  readonly events: ReceivedEvent[];
  /** Requests from all windows of this browser. */
  readonly requests: Request[];
}

const openVisit = async (options: BrowserContextOptions = {}): Promise<Visit> => {
  const opened = await openPage(browser, options);
  const context = opened.page.context();
  const [events, requests]: [ReceivedEvent[], Request[]] = [[], []];
  await context.clock.install();
  await recordEvents(context, events);
  context.on("request", (request) => requests.push(request));
  return { ...opened, events, requests };
};

/**
 * Builds the URL of the demo's share page. `headers` selects the page's response headers. The URL also has other parameters and a fragment,
 * which must still be there when the person returns to the page.
 */
const buildPageUrl = (headers = "opener=none"): string => `${service.demoOrigin}/share?${headers}&utm=1&utm=2#offer`;

const checkedSteps = new Set<string>();

/** Runs axe and checks for horizontal scrolling. Each step is checked once per window width. */
const checkStep = async (page: Page): Promise<void> => {
  const step = `${page.viewportSize()?.width} ${(await page.locator("h1, h2, [role=alert]").allTextContents()).join(" ")}`;
  if (checkedSteps.has(step)) return;
  expect(await findAccessibilityIssues(page)).toEqual([]);
  expect(await hasNoHorizontalScroll(page)).toBe(true);
  checkedSteps.add(step);
};

const share = ".answer [formaction]";
const next = ".answer button.primary";

const typeName = async (sheet: Page): Promise<void> => {
  await sheet.fill("#field-first_name", "Pat");
  await sheet.fill("#field-last_name", "Example");
};

/** Signs in as a new person and continues to the decision without deciding. Returns the email address. */
const continueToDecision = async (sheet: Page): Promise<string> => {
  const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
  await sheet.waitForSelector("#sheet-email");
  await checkStep(sheet);
  await waitUntilClickable(sheet);
  await sheet.fill("#sheet-email", email);
  await sheet.click(next);
  await sheet.waitForSelector("#sheet-code");
  await checkStep(sheet);
  await sheet.fill("#sheet-code", await findCode(email));
  await sheet.click(next);
  await sheet.waitForSelector(share);
  await checkStep(sheet);
  await typeName(sheet);
  await waitUntilClickable(sheet);
  return email;
};

const signIns = ["fresh", "code", "passkey"] as const;
type SignIn = (typeof signIns)[number];

/** Rows B1 to B12 of the browser matrix combine every opener policy of a page with every way of signing in. */
const matrix = ["none", "same-origin", "same-origin-allow-popups", "noopener-allow-popups"].flatMap((policy, row) =>
  signIns.map((how, column) => [row * signIns.length + column + 1, policy, how] as const),
);

/**
 * Prepares the person who signs in. With `fresh`, only creates an email address. With `code`, the person has saved details and a session.
 * With `passkey`, the person has saved details and a device with a passkey. The email address is wider than a phone's screen and has no
 * hyphen at which it could break, so the sheet must wrap it.
 */
const prepare = async (page: Page, how: SignIn): Promise<{ readonly email: string; readonly device: Device | null }> => {
  const email = `pat.example.${crypto.randomUUID().replaceAll("-", "")}@example.com`;
  if (how === "fresh") return { email, device: null };
  await signInBrowser(page.context(), service.origin, email, "consumer");
  const fields = { email, first_name: "Pat", last_name: "Example" };
  const saved = await page.request.put(`${service.origin}/v1/me/fields`, { data: fields, headers: { "content-type": "application/json" } });
  expect(saved.status()).toBe(200);
  if (how === "code") return { email, device: null };
  await page.goto(`${service.origin}/app/account`);
  const device = await openDevice(page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("status").getByText("Passkey added.").waitFor();
  await page.context().clearCookies();
  return { email, device };
};

/** Continues to the decision as the person from `prepare`. Returns the email address if the person is new, otherwise null. */
const reachDecision = async (sheet: Page, how: SignIn, device: Device | null): Promise<string | null> => {
  if (how === "fresh") return continueToDecision(sheet);
  if (device !== null) {
    await device.goTo(sheet);
    const use = sheet.getByRole("button", { name: "Use a passkey" });
    await use.waitFor();
    await waitUntilClickable(sheet);
    await use.click();
  }
  await sheet.waitForSelector(share);
  await waitUntilClickable(sheet);
  return null;
};

/** Serves the sheet with a different opener policy. */
const overrideOpenerPolicy = async (page: Page, policy: string): Promise<void> => {
  await page.context().route(
    (url) => url.pathname === "/authorize",
    async (route) => {
      const response = await route.fetch({ maxRedirects: 0 });
      await route.fulfill({ response, headers: { ...response.headers(), "cross-origin-opener-policy": policy } });
    },
  );
};

const filterRedemptions = (requests: readonly Request[]): readonly Request[] =>
  requests.filter((request) => request.method() === "POST" && new URL(request.url()).pathname === "/v1/share/redeem");

const listEventTypes = (events: readonly ReceivedEvent[]): readonly string[] => events.map(({ type }) => type);

const empty = { name: "", email: "", phone: "" };

/** Expects one share event and the filled-in form. Returns the share's ID. */
const expectFilled = async ({ page, events }: Visit, email: string, filledPage = page): Promise<unknown> => {
  const shareEvents = () => events.filter((event) => event.type === "svc:share" && event.page === filledPage);
  await expect.poll(shareEvents, { timeout: 20_000 }).toHaveLength(1);
  const [{ from, detail }] = shareEvents() as [ReceivedEvent];
  expect(from).toBe("estimate");
  expect(Object.keys(detail).sort()).toEqual(["expires_at", "fields", "fingerprint", "scope", "share_id"]);
  expect(await readFormValues(filledPage, "#estimate")).toEqual({
    ...empty,
    name: "Pat Example",
    email,
    svc_share_id: detail.share_id,
  });
  return detail.share_id;
};

/** Like `expectFilled`, but also expects exactly one share, redeemed once, and no trace of the request in the page or its URL. */
const expectShared = async (visited: Visit, email: string, address: string): Promise<void> => {
  const { page, events, requests, problems } = visited;
  const share = await expectFilled(visited, email);
  expect(page.url()).toBe(address);
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
  await letTimersRun({ context: page.context() });
  expect(listEventTypes(events).filter((type) => type !== "svc:share-error")).toEqual(["svc:share"]);
  const statuses = filterRedemptions(requests).map(async (request) => (await request.response())?.status());
  expect(await Promise.all(statuses)).toEqual([200]);
  expect(await requestApi(`/shares/${String(share)}`)).toMatchObject({ status: "active", scope_groups: ["email", "name"] });
  expect(await countOwnShares(page)).toBe(1);
  expect(problems).toEqual([]);
};

const openSheet = async (page: Page): Promise<Page> => {
  const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(shareButtonSelector)]);
  return sheet;
};

const unconfirmed = "We can’t confirm this request";
const lostOpener = "This window lost its connection to";

const isFirefox = (): boolean => browser.browserType().name() === "firefox";

/** Opens the address through a link on a page of `origin`, or directly if `origin` is null. */
const navigateFrom = async (page: Page, origin: string | null, address: URL | string): Promise<void> => {
  if (origin === null) {
    await page.goto(String(address));
    return;
  }
  const body = `<!doctype html><title>From</title><a href="${String(address).replaceAll("&", "&amp;")}">There</a>`;
  await page.route(`${origin}/from`, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(`${origin}/from`);
  await page.click("a");
  await page.waitForURL(String(address));
};

/** Approves the share and waits until the sheet has closed. */
const decideIn = (sheet: Page): Promise<void> => waitUntilClosed(sheet, () => sheet.click(share));

/** Counts the shares of the person who is signed in to this browser. */
const countOwnShares = async (page: Page): Promise<number> => {
  const response = await page.request.get(`${service.origin}/v1/me/shares`);
  return ((await response.json()) as { data: { count: number } }).data.count;
};

/** Records requests for the sheet from now on, and delays each one until `gate` resolves. */
const watchSheets = async (page: Page, gate: Promise<void> = Promise.resolve()): Promise<Request[]> => {
  const requests: Request[] = [];
  await page.context().route(
    (url) => url.pathname === "/authorize",
    async (route) => {
      requests.push(route.request());
      await gate;
      await route.continue();
    },
  );
  return requests;
};

const requestApi = async (path: string) => {
  const response = await fetch(`${service.origin}/v1${path}`, { headers: { authorization: `Bearer ${service.world.acme.keys.live}` } });
  return ((await response.json()) as { data: Record<string, unknown> }).data;
};

describe("sharing with the demo business", () => {
  test.each(matrix)("B%i: fills the form with exactly one share (page's opener policy %s, sign-in %s)", async (_number, policy, how) => {
    const visited = await openVisit({ viewport: { width: 420, height: 640 } });
    const { page, close } = visited;
    const { email, device } = await prepare(page, how);
    const address = buildPageUrl(`opener=${policy}`);
    await page.goto(address);
    const sheet = await openSheet(page);
    const typed = await reachDecision(sheet, how, device);
    expect(await sheet.evaluate(() => window.opener === null)).toBe(policy === "same-origin");
    await decideIn(sheet);
    await expectShared(visited, typed ?? email, address);
    expect(page.context().pages()).toEqual([page]);
    await close();
  });

  test.each(["at once", "late"])(
    "B14: continues in the page's own tab when the page severs its windows and sends no referrer (first sheet loads %s)",
    async (when) => {
      const visited = await openVisit({ viewport: { width: 420, height: 640 } });
      const { page, close } = visited;
      const { email } = await prepare(page, "code");
      const gate = Promise.withResolvers<void>();
      const sheetRequests = await watchSheets(page, gate.promise);
      const address = buildPageUrl("opener=same-origin&referrer=none");
      await page.goto(address);
      const opening = page.context().waitForEvent("page"); // the event fires once the sheet's response has arrived
      await page.click(shareButtonSelector);
      await expect.poll(() => sheetRequests.length).toBe(1);
      if (when === "late") {
        await page.context().clock.runFor(5_000);
        expect(await page.locator(shareButtonSelector).textContent()).toBe("Share my contact details"); // the browser disconnects the opener only when the sheet's response arrives
      }
      gate.resolve();
      const sheet = await opening;
      await sheet.getByRole("heading", { name: unconfirmed }).waitFor();
      expect(await sheet.locator("[data-decides]:visible").count()).toBe(0);
      await page.getByRole("button", { name: "Continue in the window that opened, or continue here" }).click();
      await page.waitForSelector(share);
      expect(sheetRequests.map((request) => [request.headers().referer, new URL(request.url()).searchParams.get("display")])).toEqual([
        [undefined, "popup"],
        [`${service.demoOrigin}/`, "page"],
      ]);
      await sheet.close();
      await waitUntilClickable(page);
      await page.click(share);
      await expectShared(visited, email, address);
      await close();
    },
  );

  test.each([
    ["Open in a new tab", "opener=none"],
    ["Open in a new tab", "opener=noopener-allow-popups"],
    ["Open in a new tab", "opener=same-origin&referrer=none"],
    ["Continue here", "opener=none"],
    ["Continue here", "opener=same-origin&referrer=none"],
  ])("B15: leads to the sheet and back by “%s” when no window opens (headers %s)", async (linkText, headers) => {
    const visited = await openVisit();
    const { page, events, close } = visited;
    const { email } = await prepare(page, "code");
    await page.addInitScript("if (location.pathname === '/share') window.open = () => null");
    const address = buildPageUrl(headers);
    await page.goto(address);
    await page.click(shareButtonSelector);
    await expect.poll(() => events.map(({ detail }) => detail)).toEqual([{ code: "popup_blocked" }]);
    const link = page.getByRole("link", { name: linkText });
    const isHere = linkText === "Continue here";
    const [sheet] = isHere ? [page, await link.click()] : await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await sheet.waitForSelector(share);
    expect(new URL(sheet.url()).searchParams.get("display")).toBe(isHere ? "page" : "popup");
    await waitUntilClickable(sheet);
    await sheet.click(share);
    await expectShared(visited, email, address);
    await close();
  });

  test("B16, B18: fills the form once in the same tab despite reloads, and Back shows that the decision was made", async () => {
    const visited = await openVisit();
    const { page, events, requests, close } = visited;
    const { email } = await prepare(page, "code");
    await page.addInitScript("if (location.pathname === '/share') window.open = (url) => { location.href = url; return null }");
    const address = buildPageUrl();
    await page.goto(address);
    await page.click(shareButtonSelector);
    await page.waitForSelector(share);
    await waitUntilClickable(page);
    await page.click(share);
    await expectShared(visited, email, address);
    await page.reload();
    await page.waitForSelector(shareButtonSelector);
    await letTimersRun({ context: page.context() });
    await page.goBack();
    // Firefox has a single history entry for the decision and its result, so Back skips both.
    if (isFirefox()) await page.locator(shareButtonSelector).waitFor();
    else await page.getByRole("heading", { name: "You already responded" }).waitFor();
    await checkStep(page);
    expect(listEventTypes(events).filter((type) => type === "svc:share")).toHaveLength(1);
    expect(filterRedemptions(requests)).toHaveLength(1);
    expect(await countOwnShares(page)).toBe(1);
    await close();
  });

  test.each(["none", "same-origin"])(
    "B17: fills the form after the page was reloaded while the sheet was open (opener policy %s)",
    async (policy) => {
      const visited = await openVisit();
      const { page, close } = visited;
      const { email } = await prepare(page, "code");
      const address = buildPageUrl(`opener=${policy}`);
      await page.goto(address);
      const sheet = await openSheet(page);
      await sheet.waitForSelector(share);
      await page.reload();
      await page.waitForSelector(shareButtonSelector);
      await waitUntilClickable(sheet);
      await decideIn(sheet);
      await expectShared(visited, email, address);
      await close();
    },
  );

  test("B18: continues after the sheet was reloaded and left with Back at the code step", async () => {
    const visited = await openVisit();
    const { page, close } = visited;
    const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
    const address = buildPageUrl();
    await page.goto(address);
    const sheet = await openSheet(page);
    await sheet.waitForSelector("#sheet-email");
    await waitUntilClickable(sheet);
    await sheet.fill("#sheet-email", email);
    await sheet.click(next);
    await sheet.waitForSelector("#sheet-code");
    await sheet.reload();
    await sheet.waitForSelector("#sheet-code");
    await sheet.goBack();
    await sheet.fill("#sheet-code", await findCode(email));
    await sheet.click(next);
    await sheet.waitForSelector(share);
    await sheet.reload();
    await sheet.waitForSelector(share);
    await typeName(sheet);
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expectShared(visited, email, address);
    await close();
  });

  test.each(["none", "same-origin"])(
    "B19: opens one window and makes one share when the button and the decision are double-clicked (opener policy %s)",
    async (policy) => {
      const visited = await openVisit();
      const { page, close } = visited;
      const { email } = await prepare(page, "code");
      const address = buildPageUrl(`opener=${policy}`);
      const sheetRequests = await watchSheets(page);
      await page.goto(address);
      const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.dblclick(shareButtonSelector)]);
      await sheet.waitForSelector(share);
      expect(page.context().pages()).toHaveLength(2);
      expect(sheetRequests).toHaveLength(1);
      await waitUntilClickable(sheet);
      await waitUntilClosed(sheet, () => sheet.dblclick(share));
      await expectShared(visited, email, address);
      await close();
    },
  );

  test("B27: answers a framed page through its window, and offers no decision when that window is severed", async () => {
    const { page, events, close } = await openVisit();
    const { email } = await prepare(page, "code");
    await page.route(`${service.demoOrigin}/outer`, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: '<!doctype html><title>Outer</title><iframe src="/share?frame=own" width="800" height="800"></iframe>',
      }),
    );
    await page.goto(`${service.demoOrigin}/outer`);
    const frame = page.frameLocator("iframe");
    const [lost] = await Promise.all([page.context().waitForEvent("page"), frame.locator(shareButtonSelector).click()]);
    await lost.waitForSelector(share);
    expect(new URL(lost.url()).searchParams.has("return_url")).toBe(false);
    await lost.evaluate(() => {
      window.opener = null;
    });
    await lost.reload();
    await lost.getByRole("heading", { name: lostOpener }).waitFor();
    expect(await lost.locator("[data-decides]:visible").count()).toBe(0);
    await lost.close();
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), frame.locator(shareButtonSelector).click()]);
    await sheet.waitForSelector(share);
    expect(new URL(sheet.url()).searchParams.has("return_url")).toBe(false);
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await frame.locator('input[name="svc_share_id"]').waitFor({ state: "attached" });
    expect(await frame.locator("#email").inputValue()).toBe(email);
    await expect.poll(() => listEventTypes(events)).toContain("svc:share");
    expect(await countOwnShares(page)).toBe(1);
    await close();
  });

  test.each(["none", "same-origin"])("B20: answers each of two tabs with its own share (opener policy %s)", async (policy) => {
    const visited = await openVisit();
    const { page, events, requests, close } = visited;
    const { email } = await prepare(page, "code");
    const other = await page.context().newPage();
    for (const tab of [page, other]) await tab.goto(buildPageUrl(`opener=${policy}`));
    const [first, second] = [await openSheet(page), await openSheet(other)];
    const decideAtFront = async (sheet: Page): Promise<void> => {
      await sheet.bringToFront();
      await sheet.waitForSelector(share);
      await waitUntilClickable(sheet);
      await decideIn(sheet);
    };
    await decideAtFront(second);
    const otherShare = await expectFilled(visited, email, other);
    await letTimersRun({ context: page.context() });
    expect(events).toHaveLength(1);
    expect(await readFormValues(page, "#estimate")).toEqual(empty);
    await decideAtFront(first);
    expect(await expectFilled(visited, email)).not.toBe(otherShare);
    const redemptions = filterRedemptions(requests);
    expect(await Promise.all(redemptions.map(async (request) => (await request.response())?.status()))).toEqual([200, 200]);
    expect(new Set(redemptions.map((request) => request.headers()["idempotency-key"])).size).toBe(2);
    await close();
  });

  test("B25: ignores messages that are not the sheet's answer, sends no event for them, and accepts the answer", async () => {
    const visited = await openVisit();
    const { page, events, requests, problems, close } = visited;
    const { email } = await prepare(page, "code");
    const address = buildPageUrl();
    await page.goto(address);
    const sheet = await openSheet(page);
    await sheet.waitForSelector(share);
    await sheet.waitForLoadState("load"); // the sheet has now sent svc:ready to the page
    const forgedMessage = { type: "svc:code", state: new URL(sheet.url()).searchParams.get("state"), code: "ac_00stranger" };
    const send = (from: Page, data: unknown): Promise<void> => from.evaluate((message) => opener.postMessage(message, "*"), data);
    for (const forged of [
      { ...forgedMessage, state: "x".repeat(43) },
      { ...forgedMessage, state: undefined },
      { ...forgedMessage, type: "svc:done" },
      { ...forgedMessage, code: { toString: 1 } },
      "svc:code",
      null,
    ])
      await send(sheet, forged);
    await page.evaluate((message) => postMessage(message, "*"), forgedMessage); // the sheet's message, but sent from the page's own origin
    const [stranger] = await Promise.all([
      page.context().waitForEvent("page"),
      page.evaluate((url) => void open(url, "stranger"), `${service.origin}/authorize`),
    ]);
    await stranger.waitForURL(`${service.origin}/authorize`); // another window with the same origin as the sheet
    await send(stranger, forgedMessage);
    await letTimersRun({ context: page.context() });
    expect([events, problems, filterRedemptions(requests)]).toEqual([[], [], []]);
    await stranger.close();
    await sheet.bringToFront();
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expectShared(visited, email, address);
    await close();
  });

  test.each([
    ["names the host", "trust=host"],
    ["trusts by nonce", "trust=nonce"],
  ])("B29: works without violations on a page whose policy %s, with Trusted Types and without inline styles", async (_name, trust) => {
    const visited = await openVisit();
    const { page, close } = visited;
    const { email } = await prepare(page, "code");
    const address = buildPageUrl(trust);
    const response = await page.goto(address);
    const policy = (await response?.allHeaders())?.["content-security-policy"] ?? "";
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy.includes("script-src 'nonce-")).toBe(trust === "trust=nonce");
    const sheet = await openSheet(page);
    await sheet.waitForSelector(share);
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expectShared(visited, email, address); // also expects no violations of the Content Security Policy
    await close();
  });

  const withoutStorage = `if (location.pathname === "/share")
    Object.defineProperty(window, "sessionStorage", { get() { throw new DOMException("no", "SecurityError") } });`;

  test.each(["none", "same-origin"])("B30: fills the form when storage is disabled (opener policy %s)", async (policy) => {
    const visited = await openVisit();
    const { page, problems, close } = visited;
    const { email } = await prepare(page, "code");
    await page.addInitScript(withoutStorage);
    await page.goto(`${service.demoOrigin}/share?opener=${policy}`);
    const sheet = await openSheet(page);
    await sheet.waitForSelector(share);
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expectFilled(visited, email);
    expect(problems).toEqual([]);
    await close();
  });

  test("B30: reports lost_request in the same tab when storage is disabled, and shows the button again", async () => {
    const { page, events, requests, close } = await openVisit();
    await prepare(page, "code");
    await page.addInitScript(
      `${withoutStorage} if (location.pathname === "/share") window.open = (url) => { location.href = url; return null }`,
    );
    const address = buildPageUrl();
    await page.goto(address);
    await page.click(shareButtonSelector);
    await page.waitForSelector(share);
    await waitUntilClickable(page);
    await page.click(share);
    // The page may also report popup_blocked, depending on how quickly it is unloaded.
    const listReportedEvents = () =>
      events.filter(({ detail }) => detail.code !== "popup_blocked").map(({ type, detail, from }) => [type, detail, from]);
    await expect.poll(listReportedEvents, { timeout: 20_000 }).toEqual([["svc:share-error", { code: "lost_request" }, "estimate"]]);
    await page.waitForSelector(shareButtonSelector);
    expect(new URL(page.url()).search).toBe(new URL(address).search);
    expect(await readFormValues(page, "#estimate")).toEqual(empty);
    expect(filterRedemptions(requests)).toEqual([]);
    await close();
  });

  test("B31: fits 320 pixels and passes axe on every step, including sign-in by passkey", async () => {
    const { page, close } = await openVisit();
    const { device } = await prepare(page, "passkey");
    await page.goto(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await sheet.setViewportSize({ width: 320, height: 640 }); // the popup opened with the width that the page requested, which is larger
    await sheet.waitForSelector("#sheet-email");
    await checkStep(sheet);
    await device?.goTo(sheet);
    await device?.recognizes(false);
    await waitUntilClickable(sheet);
    await sheet.getByRole("button", { name: "Use a passkey" }).click();
    await sheet.getByRole("heading", { name: "Confirm on your device" }).waitFor();
    await sheet.locator("[data-failed]").waitFor(); // the device refuses, so the step stays open
    await checkStep(sheet);
    await device?.recognizes(true);
    await sheet.getByRole("button", { name: "Use a passkey" }).click();
    await sheet.waitForSelector(share);
    await checkStep(sheet);
    await sheet.getByRole("link", { name: "Edit these details" }).click();
    await sheet.waitForSelector("#field-email");
    await checkStep(sheet);
    await close();
  });

  test.each(["same-origin", "same-origin-allow-popups", "noopener-allow-popups"])(
    "B13: fills the form even if the sheet's own opener policy is %s, which severs the opener",
    async (policy) => {
      const visited = await openVisit();
      const { page, close } = visited;
      const plain = await page.request.get(`${service.origin}/authorize`);
      expect(plain.headers()["cross-origin-opener-policy"]).toBe("unsafe-none");
      const { email } = await prepare(page, "code");
      await overrideOpenerPolicy(page, policy);
      const address = buildPageUrl();
      await page.goto(address);
      const sheet = await openSheet(page);
      await reachDecision(sheet, "code", null);
      expect(await sheet.evaluate(() => window.opener === null)).toBe(!isFirefox() || policy !== "noopener-allow-popups"); // Firefox does not support noopener-allow-popups
      await decideIn(sheet);
      await expectShared(visited, email, address);
      await close();
    },
  );

  test("B21: offers no decision in another browser that opens the same URL, and continues in the first", async () => {
    const visited = await openVisit();
    const { page, close } = visited;
    const { email } = await prepare(page, "code");
    await page.goto(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await reachDecision(sheet, "code", null);
    const other = await openVisit();
    await prepare(other.page, "code");
    await other.page.goto(sheet.url());
    await other.page.getByRole("heading", { name: unconfirmed }).waitFor();
    expect(await other.page.locator("[data-decides]:visible").count()).toBe(0);
    await checkStep(other.page);
    expect(await countOwnShares(other.page)).toBe(0);
    await other.close();
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expectFilled(visited, email);
    await close();
  });

  test("B26: returns only to the page's own URL, and only when the referrer shows that the request came from it", async () => {
    const { page, close } = await openVisit();
    await prepare(page, "code");
    await page.goto(`${service.demoOrigin}/share`);
    const opened = await openSheet(page);
    await opened.waitForSelector("[data-origin]");
    const sheetUrl = new URL(opened.url());
    await opened.close();
    const ownReturnUrl = sheetUrl.searchParams.get("return_url") as string;
    const { port, host } = new URL(service.demoOrigin);
    const referer = service.demoOrigin;
    const openSheetFor = async (returnUrl: string, from: string | null): Promise<string | null> => {
      const address = new URL(sheetUrl);
      address.searchParams.set("return_url", returnUrl);
      address.searchParams.set("state", crypto.randomUUID().replaceAll("-", ""));
      await navigateFrom(page, from, address);
      for (const name of [unconfirmed, lostOpener]) if (await page.getByRole("heading", { name }).isVisible()) return null;
      return page.getAttribute("[data-origin]", "data-back");
    };
    expect(await openSheetFor(ownReturnUrl, referer)).toBe(ownReturnUrl);
    for (const [returnUrl, from] of [
      ["https://evil.example/", referer],
      [`http://localhost:${Number(port) + 1}/share`, referer],
      [`http://pat@${host}/share`, referer],
      [ownReturnUrl, null],
      [ownReturnUrl, `http://sub.${host}`],
      [ownReturnUrl, "http://evil.example"],
    ] as const)
      expect(await openSheetFor(returnUrl, from), `${returnUrl} from ${from}`).toBeNull();
    expect(await countOwnShares(page)).toBe(0);
    await close();
  });

  test("returns through the page's own origin when the sheet has lost its opener", async () => {
    const visited = await openVisit();
    const { page, close } = visited;
    const { email } = await prepare(page, "code");
    await page.context().addInitScript("if (location.pathname === '/authorize') window.opener = null;");
    await page.goto(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await reachDecision(sheet, "code", null);
    await sheet.click(share);
    await expectFilled(visited, email);
    await close();
  });

  test("B28: returns by a link in the same tab when the sheet runs no scripts", async () => {
    const { page, close } = await openVisit();
    await page.goto(`${service.demoOrigin}/share`);
    const opened = await openSheet(page);
    await opened.waitForSelector("[data-origin]");
    const address = opened.url();
    await opened.close();
    // Firefox is automated through its script engine, so scripts must stay enabled. Only the sheet's own script is blocked.
    const plain = await browser.newContext({ javaScriptEnabled: isFirefox() });
    await plain.route(/\.js$/, (route) => route.abort());
    const sheet = await plain.newPage();
    await navigateFrom(sheet, service.demoOrigin, address);
    const email = `pat-${crypto.randomUUID().slice(0, 8)}@example.com`;
    await sheet.fill("#sheet-email", email);
    await sheet.click(next);
    await sheet.fill("#sheet-code", await findCode(email));
    await sheet.click(next);
    await typeName(sheet);
    await sheet.click(share);
    const back = await sheet.getAttribute("[data-go-back]", "href");
    expect(new URL(back ?? "").origin).toBe(service.demoOrigin);
    expect(new URL(back ?? "").searchParams.get("svc_code")).toMatch(/^ac_00/);
    await plain.close();
    await close();
  });

  test.each([
    ["on", true],
    ["off", false],
  ])("never shares when Enter is pressed in a field or on a checkbox (scripts %s)", async (_name, javaScriptEnabled) => {
    const { page, close } = await openVisit();
    await page.goto(`${service.demoOrigin}/share`);
    const opened = await openSheet(page);
    await opened.waitForSelector("[data-origin]");
    const address = opened.url();
    await opened.close();
    const context = await browser.newContext({ javaScriptEnabled });
    if (javaScriptEnabled) await context.clock.install();
    const sheet = await context.newPage();
    const press = async (field: string): Promise<void> => {
      if (javaScriptEnabled) await waitUntilClickable(sheet);
      await sheet.press(field, "Enter");
    };
    await navigateFrom(sheet, service.demoOrigin, address);
    await sheet.fill("#sheet-email", `pat-${crypto.randomUUID().slice(0, 8)}@example.com`);
    await press("#sheet-email");
    const email = (await sheet.locator(".inner strong").first().textContent()) ?? "";
    await sheet.fill("#sheet-code", await findCode(email));
    await press("#sheet-code");
    await typeName(sheet);
    await sheet.check("#group-phone");
    await sheet.fill("#field-phone", "+1 202 555 0123");
    for (const field of ["#field-last_name", "#group-phone", "#field-phone"]) {
      await Promise.all([sheet.waitForURL(/\/authorize\/review/), press(field)]);
      expect(await sheet.inputValue("#field-last_name")).toBe("Example");
      expect(await sheet.isChecked("#group-phone")).toBe(true);
      await Promise.all([sheet.waitForURL(/\/authorize\?/), sheet.goto(address)]);
      await typeName(sheet);
      await sheet.check("#group-phone");
      await sheet.fill("#field-phone", "+1 202 555 0123");
    }
    expect(await countOwnShares(sheet)).toBe(0);
    if (javaScriptEnabled) await waitUntilClickable(sheet);
    await sheet.click(share);
    await expect.poll(() => countOwnShares(sheet)).toBe(1);
    await context.close();
    await close();
  });

  test("confirms the page that opened it by a message when the page sends no referrer", async () => {
    const visited = await openVisit();
    const { page, close } = visited;
    const { email } = await prepare(page, "code");
    const address = buildPageUrl("opener=none&referrer=none");
    const sheetRequests = await watchSheets(page);
    await page.goto(address);
    const sheet = await openSheet(page);
    await sheet.waitForSelector(share);
    expect(sheetRequests[0]?.headers().referer).toBeUndefined();
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    const id = await expectFilled(visited, email);
    expect(await requestApi(`/shares/${String(id)}`)).toMatchObject({ request_evidence: "message" });
    await close();
  });

  test("offers nothing in a window that another site opened, even after that site's page is replaced by the business's page", async () => {
    const { page, close } = await openVisit();
    await prepare(page, "code");
    await page.goto(`${service.demoOrigin}/share`);
    const opened = await openSheet(page);
    const address = new URL(opened.url());
    await opened.close();
    address.searchParams.set("state", "stranger");
    address.searchParams.set("purpose", "Sell your details");
    const other = service.origin.replace("localhost", "127.0.0.1");
    await page.route(`${other}/stranger`, (route) => route.fulfill({ contentType: "text/html", body: "<title>Stranger</title>" }));
    await page.goto(`${other}/stranger`);
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.evaluate((url) => void window.open(url), address.href)]);
    await page.goto(`${service.demoOrigin}/share`); // the sheet's opener is now the business's page
    await page.waitForSelector(shareButtonSelector);
    await sheet.reload();
    await sheet.waitForLoadState("load");
    await letTimersRun({ context: page.context() });
    await sheet.getByRole("heading", { name: unconfirmed }).waitFor();
    expect(await sheet.locator(share).count()).toBe(0);
    await close();
  });

  test.each([
    ["“Not now”", (sheet: Page) => sheet.click("[data-not-now]")],
    ["closing the window", (sheet: Page) => sheet.close()],
  ])("B22: ends the request by %s, reports it to the page once without a request, and leaves no trace", async (_name, leave) => {
    const { page, events, requests, close } = await openVisit();
    await page.goto(buildPageUrl());
    const sheet = await openSheet(page);
    await sheet.waitForLoadState("load"); // the sheet has now sent svc:ready; the page would not notice a window that closes earlier
    const shown = requests.length;
    await waitUntilClosed(sheet, () => leave(sheet));
    await expect.poll(() => events, { timeout: 20_000 }).toHaveLength(1);
    await letTimersRun({ context: page.context() });
    expect(events.map(({ type, detail, from }) => [type, detail, from])).toEqual([["svc:closed", {}, "estimate"]]);
    expect(requests.slice(shown).map((request) => request.url())).toEqual([]);
    expect(await page.locator(".svc-share [role=status]").textContent()).toBe("Nothing was shared.");
    expect(await readFormValues(page, "#estimate")).toEqual(empty);
    await close();
  });

  test("B24: sends a new code for the same request after a code has expired, without another decision", async () => {
    const visited = await openVisit();
    const { page, events, close } = visited;
    const { email } = await prepare(page, "code");
    await page.route(
      (url) => url.pathname === "/v1/share/redeem",
      async (route) => {
        await service.database.prepare("UPDATE share_codes SET expires_at = expires_at - 60000").run(); // the code is valid for only one minute
        await route.continue();
      },
      { times: 1 },
    );
    await page.goto(buildPageUrl());
    const sheet = await openSheet(page);
    await sheet.waitForSelector(share);
    const extractState = (window: Page): string | null => new URL(window.url()).searchParams.get("state");
    const state = extractState(sheet);
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expect.poll(() => events, { timeout: 20_000 }).toMatchObject([{ type: "svc:share-error", detail: { code: "code_expired" } }]);
    const late = await openSheet(page);
    const sendAgain = late.getByRole("button", { name: "Send again" });
    await sendAgain.waitFor();
    expect(extractState(late)).toBe(state);
    await checkStep(late);
    await waitUntilClosed(late, () => sendAgain.click());
    await expectFilled(visited, email);
    expect(listEventTypes(events)).toEqual(["svc:share-error", "svc:share"]);
    expect(await countOwnShares(page)).toBe(1);
    await close();
  });

  test("B23: refuses a decision after eleven minutes, and starts again at the same URL with the same choices", async () => {
    const visited = await openVisit();
    const { page, close } = visited;
    const { email } = await prepare(page, "code");
    await page.goto(`${service.demoOrigin}/share`);
    const sheet = await openSheet(page);
    await reachDecision(sheet, "code", null);
    await sheet.selectOption("#days", "30");
    await service.later(11 * 60_000);
    await sheet.click(share);
    await sheet.getByRole("heading", { name: "This request expired" }).waitFor();
    await checkStep(sheet);
    await sheet.getByRole("button", { name: "Start again" }).click();
    await sheet.waitForSelector(share);
    expect(await sheet.inputValue("#days")).toBe("30");
    await checkStep(sheet);
    await waitUntilClickable(sheet);
    await decideIn(sheet);
    await expectFilled(visited, email);
    await close();
  });
});
