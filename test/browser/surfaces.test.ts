// Checks the pages outside the portal in every appearance: light and dark mode, three widths, 200% text size and zoom, and forced colors
// with the keyboard.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import { findIssuesInWindows, hasNoHorizontalScroll, openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { signInBrowser } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser();
/** Paths of pages that need no session. */
let publicPaths: readonly string[];

const getOperatorCredentials = () => ({ username: "operator", password: service.vars.ADMIN_TOKEN as string });

const postJson = (path: string, body: object): Promise<Response> =>
  fetch(`${service.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.demoOrigin },
    body: JSON.stringify(body),
  });

/** Issues a certificate and returns its ID and the token in its withdrawal link. */
const issue = async (clientId: string, email: string): Promise<{ readonly id: string; readonly token: string }> => {
  const response = await postJson("/v1/consent", {
    client_id: clientId,
    fields: { email, first_name: "Sam" },
    disclosure_text: "I agree that Acme Solar LLC and Bright Homes Inc may call me.",
    entities: ["Acme Solar LLC", "Bright Homes Inc"],
    purpose: "solar quote follow-up",
    page_url: `${service.demoOrigin}/`,
  });
  const { data } = (await response.json()) as { data: { cert_id: string; manage_url: string } };
  return { id: data.cert_id, token: data.manage_url.split("#m=")[1] ?? "" };
};

beforeAll(async () => {
  const { live, sandbox } = service.world.acme.clients;
  const active = await issue(live, service.world.consumerEmail);
  const test = await issue(sandbox, "kim@example.com");
  const [withdrawn, partly] = [await issue(live, "sam@example.com"), await issue(live, "lee@example.com")];
  await postJson(`/v1/certs/${withdrawn.id}/opt-out/manage`, { token: withdrawn.token });
  await postJson(`/v1/certs/${partly.id}/opt-out/manage`, { token: partly.token, entities: ["Bright Homes Inc"] });
  await fetch(`${service.origin}/v1/admin/incidents`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${service.vars.ADMIN_TOKEN}` },
    body: JSON.stringify({
      title: "Deliveries are late",
      impact: "degraded",
      components: ["webhooks", "email"],
      text: "Webhooks and emails arrive up to ten minutes late. Nothing is lost.",
    }),
  });
  publicPaths = [
    "/",
    "/withdraw",
    "/status",
    "/operator",
    ...[active, test, withdrawn, partly].map(({ id }) => `/c/${id}`),
    "/c/unknown",
    "/app/sign-in",
    "/docs/webhooks",
    "/docs/api/certificates",
    "/docs/api/certificates/captureConsent",
    `/authorize?${new URLSearchParams({
      client_id: live,
      origin: service.demoOrigin,
      scope: "email name phone?",
      purpose: "solar quote",
      disclosure: "Acme Solar LLC may call me.",
      code_challenge: computeCodeChallenge("v".repeat(43)),
      code_challenge_method: "S256",
      state: "xyz",
      return_url: `${service.demoOrigin}/share`,
    })}`,
  ];
});

const windows = (["light", "dark"] as const).flatMap((colorScheme) => [1_280, 390, 320].map((width) => ({ colorScheme, width })));
const zoomedWidth = 640; // 200% zoom in a window of 1,280 pixels

const inspect = async (page: Page, path: string): Promise<readonly string[]> => {
  // The referrer tells the sheet which page made the request.
  const response = await page.goto(`${service.origin}${path}`, { referer: `${service.demoOrigin}/` });
  expect([path, response?.status()]).toEqual([path, path === "/c/unknown" ? 404 : 200]);
  const findings = await findIssuesInWindows(page, windows);
  for (const [width, size] of [
    [zoomedWidth, ""],
    [1_280, "200%"],
    [390, "200%"],
    [390, ""], // restores the normal text size
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate((fontSize) => {
      document.documentElement.style.fontSize = fontSize;
    }, size);
    if (!(await hasNoHorizontalScroll(page))) findings.push(`too wide at ${width} pixels with ${size || "100%"} text`);
  }
  return findings.map((finding) => `${path}: ${finding}`);
};

const maxStops = 40;

/** Moves through the open page with the Tab key, and lists the elements whose focus is not visible. */
const listInvisibleStops = async (page: Page, path: string): Promise<readonly string[]> => {
  const invisible: string[] = [];
  for (let stop = 0; stop < maxStops; stop += 1) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(() => {
      const active = document.activeElement;
      if (active === null || active === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(active);
      return { name: active.outerHTML.slice(0, 80), isVisible: outlineStyle !== "none" && outlineWidth !== "0px" };
    });
    if (found === null) break;
    if (!found.isVisible) invisible.push(`${path}: ${found.name}`);
  }
  return invisible;
};

describe("pages without a session", () => {
  test("pass axe in light and dark at each width, and never scroll sideways with 200% text or zoom", async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 }, httpCredentials: getOperatorCredentials() });
    const findings: string[] = [];
    for (const path of publicPaths) findings.push(...(await inspect(page, path)));
    expect(findings).toEqual([]);
    await close();
  }, 240_000);

  test("show the keyboard focus where the system sets the colors", async () => {
    const { page, close } = await openPage(browser, {
      viewport: { width: 1_280, height: 900 },
      forcedColors: "active",
      httpCredentials: getOperatorCredentials(),
    });
    const invisible: string[] = [];
    for (const path of publicPaths) {
      await page.goto(`${service.origin}${path}`);
      invisible.push(...(await listInvisibleStops(page, path)));
    }
    expect(invisible).toEqual([]);
    await close();
  }, 120_000);
});

describe("pages of a person", () => {
  test.each([
    ["with a consent", () => service.world.consumerEmail],
    ["with nothing yet", () => "new@example.com"],
  ])(
    "pass axe and never scroll sideways, and show the focus in forced colors: %s",
    async (_, email) => {
      const { page, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
      await signInBrowser(page.context(), service.origin, email(), "consumer");
      const findings: string[] = [];
      for (const path of ["/app", "/app/details", "/app/history", "/app/account"]) {
        findings.push(...(await inspect(page, path)));
        await page.emulateMedia({ colorScheme: "light", forcedColors: "active" });
        findings.push(...(await listInvisibleStops(page, path)));
        await page.emulateMedia({ forcedColors: "none" });
      }
      expect(findings).toEqual([]);
      await close();
    },
    120_000,
  );
});
