// Tests the portal in a real browser: signing up without scripts, switching between businesses, and whether every page is accessible at
// each width, in light and dark mode.
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { livePaths } from "../../workers/pages/portal/navigation.ts";
import { findIssuesInWindows, openPage, wideAndNarrowAppearances, type Appearance } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findNewestCode } from "../support/email-code.ts";

const { service, browser } = await startServiceAndBrowser();
const usedCodes = new Set<string>();
const pictures = process.env.PICTURES;

const issueCertificate = async (email: string): Promise<{ readonly cert_id: string; readonly manage_url: string }> => {
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.demoOrigin },
    body: JSON.stringify({
      client_id: service.world.acme.clients.live,
      fields: { email, first_name: "Sam" },
      disclosure_text: "I agree that Acme Solar LLC may call me.",
      entities: ["Acme Solar LLC", "Bright Homes Inc"],
      purpose: "solar quote",
      page_url: `${service.demoOrigin}/`,
    }),
  });
  return ((await response.json()) as { data: { cert_id: string; manage_url: string } }).data;
};

const issueAndWithdraw = async (email: string): Promise<void> => {
  const { cert_id, manage_url } = await issueCertificate(email);
  await fetch(`${service.origin}/v1/certs/${cert_id}/opt-out/manage`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: manage_url.split("#m=")[1] }),
  });
};

beforeAll(async () => {
  await issueCertificate(service.world.consumerEmail);
  await issueAndWithdraw("sam@example.com");
});

/** Returns the code in the newest email. The service sends the email after its response, so this waits for it. */
const findCode = async (email: string): Promise<string> => {
  const codes = new Set<string>();
  await expect
    .poll(
      async () => {
        const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`, {
          headers: { accept: "application/json" },
        });
        const { messages } = (await response.json()) as { messages: readonly { text: string }[] };
        const code = findNewestCode(messages);
        if (code !== undefined && !usedCodes.has(code)) codes.add(code);
        return codes.size;
      },
      { timeout: 20_000 },
    )
    .toBe(1);
  const [code = ""] = codes;
  usedCodes.add(code);
  return code;
};

const signIn = async (page: Page, email: string): Promise<void> => {
  await page.goto(`${service.origin}/portal/sign-in`);
  await page.getByLabel("Work email").fill(email);
  await page.keyboard.press("Enter");
  await page.getByLabel("6-digit code").fill(await findCode(email));
  await page.keyboard.press("Enter");
  await page.waitForURL(`${service.origin}/portal`);
};

const paths = [
  ...livePaths,
  "/portal/certificates?status=active&website=localhost",
  "/portal/certificates?purpose=none-like-it",
  "/portal/nothing",
  ...["/portal/test", "/portal/test/sandbox", "/portal/test/events"],
];

/** Lists the service's own words that break across lines in tables. Only third-party text may break inside a word. */
const findBrokenWords = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const words = [...document.querySelectorAll(".listing :is(button, td > a, td > code:not(.wraps, .hash))")];
    const countLines = (word: Element): number => {
      const range = document.createRange();
      range.selectNodeContents(word);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    };
    return words.filter((word) => !/\s/.test(word.textContent ?? "") && countLines(word) > 1).map((word) => word.textContent ?? "");
  });

describe("the portal", () => {
  test("is accessible in light and dark, wide and narrow, without horizontal scrolling", async () => {
    const { page, close } = await openPage(browser, { viewport: { width: wideAndNarrowAppearances[0].width, height: 900 } });
    const findings: string[] = [];
    const look = async (name: string): Promise<void> => {
      const saveScreenshots = async (_: Page, { width }: Appearance): Promise<string[]> => {
        if (pictures !== undefined)
          await page.screenshot({ path: `${pictures}/${name.replaceAll(/\W+/g, "-")}-${width}.png`, fullPage: true });
        return (await findBrokenWords(page)).map((word) => `breaks "${word}"`);
      };
      findings.push(
        ...(await findIssuesInWindows(page, wideAndNarrowAppearances, { also: saveScreenshots })).map((finding) => `${name}: ${finding}`),
      );
    };
    for (const path of ["/sign-in", "/sign-up"]) {
      await page.goto(`${service.origin}/portal${path}`);
      await look(path);
    }
    await signIn(page, service.world.ownerEmail);
    await page.goto(`${service.origin}/portal/webhooks/new`);
    await page.getByRole("textbox", { name: "Endpoint URL" }).fill("https://hooks.example.com/in");
    await page.getByRole("radio", { name: "Only the types I choose" }).check();
    await page.getByRole("checkbox", { name: "certificate.revoked" }).check();
    await look("webhooks/new chosen types");
    await page.getByRole("button", { name: "Add endpoint" }).click();
    await page.locator("#secret-value").waitFor();
    await look("webhooks/secret");
    await issueAndWithdraw("kim@example.com");
    for (const path of paths) {
      await page.goto(`${service.origin}${path}`);
      await look(path.slice(1));
    }
    for (const [list, link] of [
      ["/certificates", '.table a[href^="/portal/certificates/cc_"]'],
      ["/deadlines", '.table a[href^="/portal/deadlines/"]'],
      ["/domains", '.table a[href^="/portal/domains/dom_"]'],
      ["/webhooks", '.table a[href^="/portal/webhooks/whk_"]'],
      ["/events", '.table a[href^="/portal/events/"]'],
    ] as const) {
      await page.goto(`${service.origin}/portal${list}`);
      await page.locator(link).first().click();
      await look(`detail${list}`);
    }
    await page.locator('.table a[href*="/deliveries/dlv_"]').click();
    await look("detail/delivery");
    await page.getByRole("link", { name: "hooks.example.com" }).click();
    for (const action of ["Edit", "Rotate signing secret", "Delete endpoint"]) {
      const endpoint = page.url();
      if (action !== "Edit") await page.locator("summary", { has: page.locator('use[href="#i-ellipsis"]') }).click();
      await page.getByRole("main").getByRole("link", { name: action }).first().click();
      await look(`webhooks/${action}`);
      await page.goto(endpoint);
    }
    expect(findings).toEqual([]);
    await close();
  }, 240_000);

  test("leads from signing up to an API key without scripts", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    const email = "owner@roofs-in-a-browser.example";
    await page.goto(service.origin);
    await page.getByRole("link", { name: "Create an account" }).first().click();
    await page.getByLabel("Business name").fill("Fresh Roofs LLC");
    await page.getByLabel("Website").fill("https://roofs-in-a-browser.example");
    await page.getByLabel("Work email").fill(email);
    await page.getByRole("button", { name: "Send code" }).click();
    await page.getByLabel("6-digit code").fill(await findCode(email));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
    await page.getByRole("link", { name: "Verify domain" }).click();
    await page.locator("main").getByText("_svc-challenge.roofs-in-a-browser.example").first().waitFor();
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("navigation", { name: "Portal pages" }).getByRole("link", { name: "API keys" }).click();
    await page.locator("#key_name").fill("CRM");
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.getByText("Copy your API key now. You won’t be able to see it again.").waitFor();
    expect(await page.locator("#secret-value").textContent()).toMatch(/^sk_live_/);
    await page.getByRole("link", { name: "I’ve saved it" }).click();
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/portal/sign-in*");
    await page.goto(`${service.origin}/portal/keys`);
    expect(new URL(page.url()).pathname).toBe("/portal/sign-in");
    await close();
  }, 120_000);

  test("switches between the two businesses of a member, at each width", async () => {
    const email = "pat@two-in-a-browser.example";
    const looks: unknown[] = [];
    const windows = [1_280, 390, 320].map((width) => ({ colorScheme: "light", width }) as const);
    const look = async (page: Page, name: string): Promise<void> => {
      const saveScreenshots = async (_: Page, { width }: Appearance): Promise<string[]> => {
        if (pictures !== undefined) await page.screenshot({ path: `${pictures}/several-${name}-${width}.png`, fullPage: true });
        return [];
      };
      looks.push(...(await findIssuesInWindows(page, windows, { also: saveScreenshots })).map((finding) => `${name}: ${finding}`));
    };
    const { page, close } = await openPage(browser, { viewport: { width: 1_280, height: 900 } });
    const signUp = async (name: string, address: string): Promise<void> => {
      await page.goto(`${service.origin}/portal/sign-up`);
      await page.getByLabel("Business name").fill(name);
      await page.getByLabel("Work email").fill(address);
      await page.getByRole("button", { name: "Send code" }).click();
      await page.getByLabel("6-digit code").fill(await findCode(address));
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
    };
    const switcher = page.locator(".side .who");
    await signUp("Agency of Pat", email);
    await page.getByRole("button", { name: "Sign out" }).click();
    await signUp("Bright Homes Inc", "owner@two-in-a-browser.example");
    await page.goto(`${service.origin}/portal/team`);
    await page.getByLabel("Email").fill(email);
    await page.getByRole("button", { name: "Send invitation" }).click();
    await page.getByText("Invitation created.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();

    await page.goto(`${service.origin}/portal/sign-in`);
    await page.getByLabel("Work email").fill(email);
    await page.getByRole("button", { name: "Send code" }).click();
    await page.getByLabel("6-digit code").fill(await findCode(email));
    await page.getByRole("button", { name: "Sign in" }).click();
    await switcher.click();
    await page.getByRole("link", { name: "Invitations: 1" }).click();
    await look(page, "invited");
    await page.getByRole("button", { name: "Join: Bright Homes Inc" }).click();
    await page.getByText("You’ve joined this business.").waitFor();
    expect(await switcher.textContent()).toContain("Bright Homes Inc");
    await look(page, "joined");
    await switcher.click();
    await page.getByRole("button", { name: "Agency of Pat" }).click();
    await switcher.getByText("Agency of Pat").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();

    await page.goto(`${service.origin}/portal/team`);
    await page.getByLabel("Work email").fill(email);
    await page.getByRole("button", { name: "Send code" }).click();
    await page.getByLabel("6-digit code").fill(await findCode(email));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Choose a business" }).waitFor();
    await look(page, "chosen");
    await page.getByRole("button", { name: "Open: Bright Homes Inc" }).click();
    await page.getByRole("heading", { level: 1, name: "Team" }).waitFor();
    expect(await switcher.textContent()).toContain("Bright Homes Inc");
    expect(looks).toEqual([]);
    await close();
  }, 240_000);
});
