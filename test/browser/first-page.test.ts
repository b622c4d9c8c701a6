// Tests the landing page and the demo's share page in a real browser: whether they are accessible in every language, in wide and narrow
// windows, and in light and dark mode. Also opens a certificate from its printed number without scripts.
import { mkdirSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { findIssuesInWindows, openPage, wideAndNarrowAppearances } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { shareButtonSelector } from "../support/share-visit.ts";

const { service, browser } = await startServiceAndBrowser();
let certId: string;

beforeAll(async () => {
  const response = await fetch(`${service.origin}/v1/consent`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: service.demoOrigin },
    body: JSON.stringify({
      client_id: service.world.acme.clients.live,
      fields: { email: service.world.consumerEmail },
      disclosure_text: "I agree that Acme Solar LLC may call me.",
      entities: ["Acme Solar LLC"],
      purpose: "solar quote",
      page_url: `${service.demoOrigin}/`,
    }),
  });
  certId = ((await response.json()) as { data: { cert_id: string } }).data.cert_id;
});

describe("the landing page and its forms", () => {
  test("are accessible in light and dark, wide and narrow, in every language, without horizontal scrolling", async () => {
    const { page, problems, close } = await openPage(browser);
    const findings: string[] = [];
    const look = async (path: string): Promise<void> => {
      await page.goto(`${service.origin}${path}`);
      findings.push(...(await findIssuesInWindows(page, wideAndNarrowAppearances)).map((finding) => `${path}: ${finding}`));
    };
    for (const path of ["/?lang=en", "/?lang=es", "/?lang=fr", "/withdraw?lang=en", "/withdraw?lang=es", "/withdraw?lang=fr"])
      await look(path);
    expect(problems).toEqual([]);
    for (const path of ["/c?number=nothing", "/withdraw?number=nothing", "/nothing"]) await look(path);
    expect(findings).toEqual([]);
    await close();
  }, 180_000);

  test("lead from a printed number to its certificate and to its withdrawal form, without scripts", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${service.origin}/?lang=es`);
    await page.getByLabel("Consultar un certificado").fill("cc_ nothing");
    await page.keyboard.press("Enter");
    expect(await page.getByRole("alert").textContent()).toContain("Ese no es un ID de certificado.");
    expect(await page.getByLabel("Consultar un certificado").inputValue()).toBe("cc_ nothing");
    await page.getByLabel("Consultar un certificado").fill(certId.toUpperCase().replaceAll(/(.{5})/g, "$1 "));
    await page.getByRole("button", { name: "Consultar" }).click();
    await page.waitForURL(`${service.origin}/c/${certId}?lang=es`);
    await page.getByRole("link", { name: "svc", exact: true }).click();
    await page.waitForURL((url) => url.pathname === "/");
    await page.getByRole("link", { name: "Withdraw consent" }).click();
    await page.getByLabel("Certificate ID or link").fill(`${service.origin}/c/${certId}`);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.waitForURL(`${service.origin}/c/${certId}#withdrawal-heading`);
    await page.goto(`${service.origin}/withdraw?lang=fr-CA`);
    await page.getByRole("textbox", { name: "Votre adresse courriel" }).fill("pat@person.example");
    await page.getByRole("button", { name: "M’envoyer un code" }).click();
    await page.waitForURL(`${service.origin}/app/sign-in?lang=fr-CA`);
    expect(await page.getByRole("main").textContent()).toContain("pat@person.example");
    await close();
  });

  test("name a local mailbox as the security contact when none is configured", async () => {
    const response = await fetch(`${service.origin}/.well-known/security.txt`);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Contact: mailto:security@localhost\n")]);
  });

  test("link to the demo's form and show its keys in development", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(service.origin);
    const demo = page.getByRole("region", { name: "This is a demo" });
    expect(await demo.textContent()).toContain(service.world.acme.keys.sandbox);
    expect(await demo.textContent()).toContain(service.world.acme.clients.sandbox);
    await demo.getByRole("link", { name: "Try a form that creates a certificate" }).click();
    await page.waitForURL((url) => url.origin === service.demoOrigin);
    await close();
  });
});

describe("the demo business's share page", () => {
  test("passes axe in light and dark, wide and narrow", async () => {
    const { page, problems, close } = await openPage(browser, { viewport: { width: 1_000, height: 900 } });
    await page.goto(`${service.demoOrigin}/share`);
    await page.getByRole("button", { name: "Share my contact details" }).waitFor();
    const windows = (["light", "dark"] as const).flatMap((colorScheme) => [1_000, 320].map((width) => ({ colorScheme, width })));
    expect(await findIssuesInWindows(page, windows)).toEqual([]);
    expect(problems).toEqual([]);
    if (process.env.UPDATE_SCREENSHOTS === "1") {
      mkdirSync("docs/images", { recursive: true });
      await page.setViewportSize({ width: 1_000, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await page.screenshot({ path: `docs/images/demo-share${colorScheme === "dark" ? "-dark" : ""}.png` });
      }
    }
    await close();
  });

  test("requests name, email and optionally phone from the consent sheet", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.demoOrigin}/share`);
    const [sheet] = await Promise.all([page.context().waitForEvent("page"), page.click(shareButtonSelector)]);
    const { origin, pathname, searchParams } = new URL(sheet.url());
    expect(origin + pathname).toBe(`${service.origin}/authorize`);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: service.world.acme.clients.live,
      origin: service.demoOrigin,
      scope: "name email phone?",
      duration_days: "90",
      return_url: `${service.demoOrigin}/share`,
      disclosure_text: expect.stringContaining("may call or email me"),
    });
    await close();
  });
});
