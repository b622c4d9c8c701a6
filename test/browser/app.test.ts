// Tests the app in a real browser: signing in, revoking a share, changing a detail, adding a passkey and opening an email link. Runs with
// and without scripts, with the keyboard, in three languages, in wide and narrow windows, and in light and dark mode.
import { mkdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { BrowserContextOptions, Page } from "playwright-core";
import { sha256Hex } from "../../core/hash.ts";
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import {
  addVirtualAuthenticator,
  findAccessibilityIssues,
  findAppearanceIssues,
  findIssuesInWindows,
  hasNoHorizontalScroll,
  openPage,
  type OpenPage,
} from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findEmailCode, signInBrowser } from "../support/local-session.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

const listMailsTo = async (email: string): Promise<readonly { readonly subject: string; readonly text: string }[]> => {
  const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
  return ((await response.json()) as { messages: { subject: string; text: string }[] }).messages;
};
let people = 0;
const createEmail = (): string => {
  people += 1;
  return `pat.${people}@example.com`;
};
const signIn = async (page: Page): Promise<string> => {
  const email = createEmail();
  await signInBrowser(page.context(), service.origin, email, "consumer");
  return email;
};

const sendRequest = async (page: Page, method: "POST" | "PUT", path: string, data: object): Promise<{ data: never }> => {
  const response = await page.request.fetch(service.origin + path, { method, data, headers: { "content-type": "application/json" } });
  if (!response.ok()) throw new Error(`${path}: ${await response.text()}`);
  return response.json() as Promise<{ data: never }>;
};

const values = { email: "pat@example.com", phone: "+1 202 555 0123", first_name: "Pat", last_name: "Example" };

const grant = async (page: Page, change: object = {}): Promise<string> => {
  const { data } = (await sendRequest(page, "POST", "/v1/share/consent", {
    client_id: service.world.acme.clients.live,
    origin: service.demoOrigin,
    scope: ["email", "phone"],
    purpose: "Send you a solar estimate",
    disclosure_text: "I agree that Acme Solar LLC may call or e-mail me about solar power at my home.",
    code_challenge: computeCodeChallenge(sha256Hex(crypto.randomUUID()).slice(0, 43)),
    code_challenge_method: "S256",
    consent: true,
    ...change,
  })) as { data: { share: { id: string } } };
  return data.share.id;
};

const issueCertificate = async (email: string): Promise<string> => {
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.demoOrigin },
    body: JSON.stringify({
      client_id: service.world.acme.clients.live,
      fields: { email, full_name: "Pat Example" },
      disclosure_text: "I agree that Acme Solar LLC and its partners may call me about solar quotes.",
      entities: ["Acme Solar LLC", "Roof Right", "Sunny Roofs"],
      purpose: "solar quote follow-up",
      page_url: `${service.demoOrigin}/`,
    }),
  });
  return ((await response.json()) as { data: { cert_id: string } }).data.cert_id;
};

/** Opens the app as a person who has saved details and two shares with the same business. */
const openWithShares = async (options: BrowserContextOptions = {}): Promise<OpenPage & { readonly email: string; readonly id: string }> => {
  const opened = await openPage(browser, options);
  const email = await signIn(opened.page);
  await sendRequest(opened.page, "PUT", "/v1/me/fields", values);
  const id = await grant(opened.page);
  await grant(opened.page, { scope: ["name"], purpose: "Write to you about panels", duration_days: 5 });
  return { ...opened, email, id };
};

const findProblemsInWindows = (page: Page): Promise<readonly string[]> =>
  findIssuesInWindows(
    page,
    (["light", "dark"] as const).flatMap((colorScheme) => [1_280, 390, 320].map((width) => ({ colorScheme, width }))),
  );

const maxPageBytes = 12_000;

const setTextSize = (page: Page, size: string): Promise<void> =>
  page.evaluate((fontSize) => {
    document.documentElement.style.fontSize = fontSize;
  }, size);

const saveScreenshot = async (page: Page, name: string): Promise<void> => {
  const dir = process.env.SCREENSHOTS;
  if (dir === undefined) return;
  mkdirSync(dir, { recursive: true });
  await page.screenshot({ path: `${dir}/${name}.png`, fullPage: true });
};

// Checking forty pages with every axe rule takes 25 s on an idle machine and several times as long on a busy one.
describe("the app", { timeout: 180_000 }, () => {
  test("revokes a share in three steps with the keyboard", async () => {
    const { page, problems, close, id } = await openWithShares();
    await page.goto(`${service.origin}/app`);
    const link = page.locator(`a[href="/app/shares/${id}/stop"]`);
    await link.focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/app/shares/${id}/stop`);
    await page.fill("#reason", "Found another");
    await page.getByRole("button", { name: "Stop sharing" }).focus();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/app/shares/${id}`);
    await page.getByRole("status").getByText("You stopped sharing.").waitFor();
    expect(await page.locator(".timeline").textContent()).toContain("You wrote: Found another");
    await page.reload();
    expect(await page.getByRole("status").count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  test("names who will be notified before a change is saved, and undoes the change, without scripts", async () => {
    const { page, close } = await openWithShares({ javaScriptEnabled: false });
    await page.goto(`${service.origin}/app/details`);
    await page.fill("#phone", "+1 202 555 0199");
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByText("We’ll notify these businesses right away: Acme Solar LLC.").waitFor();
    await page.getByRole("button", { name: "Save and notify 1 business" }).click();
    await page.getByRole("status").getByText("Changes saved. We’re notifying 1 business.").waitFor();
    expect(await page.inputValue("#phone")).toBe("+1 202 555 0199");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("status").getByText("Earlier details restored.").waitFor();
    expect(await page.inputValue("#phone")).toBe(values.phone);
    await close();
  });

  test("revokes once despite repeated clicks, and shows the current page after Back", async () => {
    const { page, close, id } = await openWithShares();
    await page.goto(`${service.origin}/app/shares/${id}/stop`);
    await page.getByRole("button", { name: "Stop sharing" }).dblclick();
    await page.waitForURL(`**/app/shares/${id}`);
    await page.goBack();
    await page.waitForURL(`**/app/shares/${id}`);
    expect(await page.locator(".timeline").textContent()).toContain("Sharing stopped, and we told them");
    expect(await page.locator(".timeline li").filter({ hasText: "Sharing stopped" }).count()).toBe(1);
    await close();
  });

  test("adds a passkey and signs in with it, using only the pages' own forms", async () => {
    const { page, problems, close } = await openPage(browser, { viewport: { width: 390, height: 900 } });
    const devtools = await addVirtualAuthenticator(page);
    const email = createEmail();
    await page.goto(`${service.origin}/app/account`);
    await page.fill("#email", email);
    await page.press("#email", "Enter");
    await page.waitForSelector("#code");
    await page.fill("#code", await findEmailCode(service.origin, email));
    await page.press("#code", "Enter");
    await page.waitForSelector("nav.main");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByRole("status").getByText("Passkey added.").waitFor();
    expect(await findAccessibilityIssues(page)).toEqual([]);
    await saveScreenshot(page, "account-passkey");
    await page.getByRole("button", { name: "Sign out on this device" }).click();
    await page.getByRole("button", { name: "Use a passkey" }).waitFor();
    expect(await findAccessibilityIssues(page)).toEqual([]);
    await saveScreenshot(page, "sign-in-passkey");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("heading", { name: "My consents" }).waitFor();
    await page.getByText(email).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await devtools.send("WebAuthn.disable"); // removes the device's authenticator
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByRole("heading", { name: "Confirm on your device" }).waitFor();
    expect(await findAccessibilityIssues(page)).toEqual([]);
    await saveScreenshot(page, "passkey-step");
    expect(problems).toEqual([]);
    await close();
  });

  test.each([
    ["light", 1_280, "en", findProblemsInWindows],
    ["dark", 390, "es", findAppearanceIssues],
    ["light", 320, "fr-CA", findAppearanceIssues],
  ] as const)(
    "passes axe on every page (%s, %i pixels, %s), fits the window even with text twice as large, and is at most 12 kB",
    async (colorScheme, width, language, findingsOf) => {
      const visit = await openPage(browser, { colorScheme, viewport: { width, height: 900 }, locale: language });
      const { page, problems } = visit;
      const check = async (name: string): Promise<void> => {
        expect(await findingsOf(page), name).toEqual([]);
        expect(await hasNoHorizontalScroll(page), name).toBe(true);
        await setTextSize(page, "200%");
        expect(await hasNoHorizontalScroll(page), `${name} with large text`).toBe(true);
        await setTextSize(page, "");
        expect(gzipSync(await page.content(), { level: 9 }).byteLength, `bytes of ${name}`).toBeLessThanOrEqual(maxPageBytes);
        await saveScreenshot(page, `${name}-${colorScheme}-${width}-${language}`);
        if (process.env.UPDATE_SCREENSHOTS === "1" && name === "consents" && width === 1_280)
          await page.screenshot({ path: "docs/images/app-consents.png", clip: { x: 140, y: 0, width: 1_000, height: 900 } });
      };
      await page.goto(`${service.origin}/app`);
      await check("sign-in");
      await page.fill("#email", "somebody@example.com");
      await page.press("#email", "Enter");
      await page.waitForSelector("#code");
      await check("code");
      await page.context().clearCookies();
      const email = await signIn(page);
      await page.goto(`${service.origin}/app`);
      await check("empty");
      await sendRequest(page, "PUT", "/v1/me/fields", values);
      const first = await grant(page);
      const second = await grant(page, { scope: ["name"], purpose: "Write to you about panels", duration_days: 5 });
      const certificate = await issueCertificate(email);
      await service.database.prepare("UPDATE consumers SET plan = 'free'").run();
      await page.goto(`${service.origin}/app/removals`);
      await check("removals-free");
      await service.database.prepare("UPDATE consumers SET plan = 'white_glove'").run();
      for (const [name, path] of [
        ["consents", ""],
        ["share", `/shares/${first}`],
        ["stop", `/shares/${first}/stop`],
        ["renew", `/shares/${first}/renew`],
        ["with", `/with/${service.world.acme.id}`],
        ["stop-all", `/with/${service.world.acme.id}/stop`],
        ["details", "/details"],
        ["account", "/account"],
        ["agents-none", "/agents"],
        ["removals-none", "/removals"],
        ["export", "/export"],
        ["delete", "/delete"],
        ["deleted", "/deleted"],
        ["certificate", `/certificates/${certificate}`],
        ["withdraw", `/certificates/${certificate}/withdraw`],
        ["none", "/shares/shr_none"],
      ] as const) {
        await page.goto(`${service.origin}/app${path}`);
        await check(name);
      }
      const press = async (name: string, path: string, button: string): Promise<void> => {
        await page.goto(`${service.origin}/app${path}`);
        await page.locator(button).click();
        await check(name);
      };
      await page.goto(`${service.origin}/app/agents`);
      await page.fill("#name", "Helper on my laptop");
      await page.locator("main .primary").click();
      await page.waitForSelector("#secret-value");
      await check("agents-secret");
      await page.goto(`${service.origin}/app/agents`);
      await check("agents");
      await press("removals-wrong", "/removals", "main .primary");
      await page.check("#target-spokeo");
      await page.check("#target-whitepages");
      await page.check("#authorize");
      await page.locator("main .primary").click();
      await page.waitForSelector(".notice[role=status]");
      await check("removal");
      await page.goto(`${service.origin}/app/removals`);
      await check("removals");
      await page.goto(`${service.origin}/app/delete`);
      await page.fill("#confirm", "no");
      await page.locator("main .primary").click();
      await page.waitForSelector("main .error");
      await check("delete-wrong");
      await page.goto(`${service.origin}/app/certificates/${certificate}/withdraw`);
      await page.locator("main details").evaluate((details) => details.setAttribute("open", ""));
      await page.locator("main details button").click();
      await page.waitForSelector("main .error");
      await check("withdraw-wrong");
      await page.locator("main details [type=checkbox]").first().check();
      await page.locator("main details button").click();
      await page.waitForSelector(".notice[role=status]");
      await check("certificate-partly");
      await service.database.prepare("UPDATE sessions SET verified_at = verified_at - 600000").run();
      await page.goto(`${service.origin}/app/delete`);
      await check("delete-needs-sign-in");
      await page.goto(`${service.origin}/app/reauthenticate/delete`);
      await check("reauthenticate");
      await page.goto(`${service.origin}/app/details`);
      await page.fill("#phone", "+1 202 555 0199");
      await page.locator("form[action='/app/details'] .primary").click();
      await page.waitForSelector("ins");
      await check("review");
      await page.locator("main .primary").click();
      await page.waitForSelector(".notice[role=status]");
      await check("saved");
      await page.fill("#phone", "12");
      await page.locator("form[action='/app/details'] .primary").click();
      await page.waitForSelector("main .error");
      await check("details-wrong");
      await page.goto(`${service.origin}/app/shares/${second}/stop`);
      await page.locator("main .primary").click();
      await page.waitForSelector(".notice[role=status]");
      await check("stopped");
      await page.goto(`${service.origin}/app?view=ended`);
      await check("ended");
      await page.goto(`${service.origin}/app/history`);
      await check("history");
      await page.goto(`${service.origin}/app/history?with=${service.world.acme.id}`);
      await check("history-with");
      await page.click('main a[href="/app/history"]');
      await page.waitForURL(`${service.origin}/app/history`);
      expect(problems.filter((text) => !text.includes("404") && !text.includes("400"))).toEqual([]);
      await visit.close();
    },
  );
});

describe("the link in an email", () => {
  const linkFor = async (email: string, id: string): Promise<string> => {
    for (;;) {
      const text = (await listMailsTo(email)).map((mail) => mail.text).join("\n");
      const link = new RegExp(`\\S+/stop/${id}#t=[\\w-]{43}`).exec(text)?.[0];
      if (link !== undefined) return link;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };

  test("revokes the share in a signed-out browser, and leaves no token in the URL", async () => {
    const { close, email, id } = await openWithShares();
    const link = await linkFor(email, id);
    const stranger = await openPage(browser);
    await stranger.page.goto(link);
    await stranger.page.getByRole("button", { name: "Stop sharing" }).waitFor();
    expect(stranger.page.url()).toBe(`${service.origin}/stop/${id}`);
    expect(await findAccessibilityIssues(stranger.page)).toEqual([]);
    await saveScreenshot(stranger.page, "stop-link");
    await stranger.page.getByRole("link", { name: "Español" }).click();
    await stranger.page.getByRole("button", { name: "Dejar de compartir" }).click();
    await stranger.page.getByRole("heading", { name: "Dejó de compartir" }).waitFor();
    expect(await findAccessibilityIssues(stranger.page)).toEqual([]);
    await saveScreenshot(stranger.page, "stop-link-done");
    expect(stranger.problems).toEqual([]);
    await stranger.close();
    await close();
  });

  test("offers to sign in when scripts are off or the link is incomplete", async () => {
    const plain = await openPage(browser, { javaScriptEnabled: false });
    await plain.page.goto(`${service.origin}/stop/shr_00none#t=${"A".repeat(43)}`);
    expect(await plain.page.getByRole("button", { name: "Stop sharing" }).isVisible()).toBe(false);
    expect(await plain.page.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe("/app/shares/shr_00none");
    await plain.close();
    const cut = await openPage(browser, { viewport: { width: 320, height: 700 } });
    await cut.page.goto(`${service.origin}/stop/shr_00none`);
    await cut.page.getByText("This link is incomplete.").waitFor();
    expect(await findAccessibilityIssues(cut.page)).toEqual([]);
    expect(await hasNoHorizontalScroll(cut.page)).toBe(true);
    await cut.close();
  });
});
