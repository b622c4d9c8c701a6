// Checks every email template in a real browser: accessibility with axe, dark mode, and width. With MAIL_SCREENSHOTS=folder, also saves a
// screenshot of each template.
import { mkdirSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { composeMail } from "../../core/mail/compose.ts";
import { renderMail } from "../../core/mail/render.ts";
import { languages, type Language } from "../../core/language.ts";
import type { TemplatedMail } from "../../core/mail/templates.ts";
import { findIssuesInWindows, hasNoHorizontalScroll, launchBrowser, openPage } from "../support/browser.ts";
import { sampleMails } from "../support/sample-mails.ts";

const folder = process.env.MAIL_SCREENSHOTS;
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const renderHtml = (language: Language, mail: TemplatedMail): string =>
  composeMail(
    { id: "id", to: "pat@example.com", from: "no-reply@example.com", language },
    renderMail(language, mail, { appUrl: "https://app.example.com", supportEmail: "support@svc.example" }),
  ).html;

/** Light and dark mode, each at 600, 390 and 320 pixels. Most rules are checked only in the first window. */
const appearances = (["light", "dark"] as const).flatMap((colorScheme) => [600, 390, 320].map((width) => ({ colorScheme, width })));

describe("every email", () => {
  test("passes axe without horizontal scrolling, light and dark, wide and narrow", async () => {
    const { page, problems, close } = await openPage(browser, { viewport: { width: 600, height: 900 } });
    const findings: string[] = [];
    for (const mail of Object.values(sampleMails)) {
      await page.setContent(renderHtml("en", mail));
      const found = await findIssuesInWindows(page, appearances, {
        also: async (shown, { colorScheme, width }) => {
          if (folder !== undefined && width > 320) {
            mkdirSync(folder, { recursive: true });
            await shown.screenshot({ path: `${folder}/${mail.template}-${colorScheme}-${width}.png`, fullPage: true });
          }
          return [];
        },
      });
      findings.push(...found.map((finding) => `${mail.template}: ${finding}`));
    }
    expect(findings).toEqual([]);
    expect(problems).toEqual([]);
    await close();
  }, 120_000);

  test.each(languages)("fits a phone of 320 pixels (%s)", async (language) => {
    const { page, close } = await openPage(browser, { viewport: { width: 320, height: 900 } });
    for (const mail of Object.values(sampleMails)) {
      await page.setContent(renderHtml(language, mail));
      expect(await hasNoHorizontalScroll(page), mail.template).toBe(true);
    }
    await close();
  });

  test("is dark in dark mode, and shows dark text on white in a program that ignores the style sheet", async () => {
    const { page, close } = await openPage(browser, { colorScheme: "dark" });
    const readColors = () =>
      page.evaluate(() => [
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector("h1") as Element).color,
      ]);
    const html = renderHtml("en", sampleMails.withdrawal_confirmation);
    await page.setContent(html);
    expect(await readColors()).toEqual(["rgb(21, 24, 29)", "rgb(236, 238, 242)"]);
    await page.setContent(html.replace(/<style>.*<\/style>/, ""));
    expect(await readColors()).toEqual(["rgb(255, 255, 255)", "rgb(20, 23, 28)"]);
    await close();
  });

  test("is at most 600 pixels wide in a wide window", async () => {
    const { page, close } = await openPage(browser, { viewport: { width: 1_400, height: 900 } });
    for (const mail of Object.values(sampleMails)) {
      await page.setContent(renderHtml("fr-CA", mail));
      const width = await page.evaluate(() =>
        Math.max(...[...document.querySelectorAll("h1, p, th, td td, a")].map((part) => part.clientWidth)),
      );
      expect(width, mail.template).toBeLessThanOrEqual(600);
    }
    await close();
  });
});
