// The reference of the API in a real browser: readable by everyone, at every width, in both schemes, without script; and the
// calls it shows work as they stand.
import { spawnSync } from "node:child_process";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFindings, fitsItsWidth, launchBrowser, openPage } from "../support/browser.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";

let service: LocalService;
let browser: Browser;

beforeAll(async () => {
  [service, browser] = await Promise.all([startLocalService(), launchBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** The arguments that a shell hands to curl. Asked of a shell, because quoting is what this is about. */
const argumentsOf = (call: string, env: Readonly<Record<string, string>>): string[] => {
  const script = `curl() { printf '%s\\0' "$@"; }; ${call}`;
  return spawnSync("sh", ["-c", script], { encoding: "utf8", env }).stdout.split("\0").slice(0, -1);
};

describe("the reference of the API", () => {
  const unfold = (page: Page): Promise<void> =>
    page.evaluate(() => {
      for (const folded of document.querySelectorAll("details")) folded.open = true;
    });

  for (const [colorScheme, width] of [
    ["light", 1_280],
    ["dark", 320],
  ] as const) {
    test(`is accessible in ${colorScheme} at ${width} pixels, folded and unfolded`, async () => {
      const { page, complaints, close } = await openPage(browser, { colorScheme, viewport: { width, height: 900 } });
      await page.goto(`${service.origin}/docs`);
      expect(await accessibilityFindings(page)).toEqual([]);
      await unfold(page);
      expect(await accessibilityFindings(page)).toEqual([]);
      expect(complaints).toEqual([]);
      await close();
    });
  }

  test("never makes anybody scroll sideways", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.origin}/docs`);
    await unfold(page);
    const tooNarrow: number[] = [];
    for (const width of [320, 480, 800, 991, 992, 1_280, 1_920]) {
      await page.setViewportSize({ width, height: 900 });
      if (!(await fitsItsWidth(page))) tooNarrow.push(width);
    }
    expect(tooNarrow).toEqual([]);
    await close();
  });

  test("works without script: a link of the contents leads to its operation, members unfold", async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${service.origin}/docs`);
    await page
      .getByRole("navigation", { name: "Contents" })
      .getByRole("link", { name: /^Verify a certificate/ })
      .click();
    expect(page.url()).toMatch(/#verifyCertificate$/);
    const operation = page.getByRole("region", { name: "Verify a certificate" });
    const anchored = operation.getByText("What is anchored, for example", { exact: false }).first();
    expect(await anchored.isVisible()).toBe(false);
    await operation.getByText(/^Its \d+ members of anchor$/).click();
    expect(await anchored.isVisible()).toBe(true);
    await close();
  });

  test("shows calls that a shell takes as they stand", async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${service.origin}/docs`);
    const calls = await page.getByRole("figure", { name: "From the command line" }).locator("code").allTextContents();
    await close();
    // The example's client and domain are nobody's here; the rest of each call goes out as a shell reads it.
    const answers = calls.map(async (call) => {
      const own = call
        .replace(/pc_live_\w+/, service.world.acme.clients.live)
        .replaceAll("https://www.acme-solar.example", "https://www.example.com");
      const [address = "", ...options] = argumentsOf(own, { SVC_API_KEY: service.world.acme.keys.live });
      const headers = options.flatMap((option, at) =>
        options[at - 1] === "-H" ? [option.split(/: (.*)/).slice(0, 2) as [string, string]] : [],
      );
      const data = options[options.indexOf("--data") + 1];
      const body = options.includes("--data") ? { method: "POST", body: data as string } : {};
      const { ok, error } = (await (await fetch(address, { headers, ...body })).json()) as { ok?: boolean; error?: { code: string } };
      return `${new URL(address).pathname.replace(/cc_\w+/, "…")} ${ok === false ? error?.code : "answered"}`;
    });
    const given = await Promise.all(answers);
    const { paths } = (await (await fetch(`${service.origin}/v1/openapi.json`)).json()) as { paths: Record<string, object> };
    expect(given.length).toBe(Object.values(paths).flatMap(Object.keys).length);
    expect(given).toContain("/v1/consent answered");
    expect(given).toContain("/v1/certs answered");
    // The example's certificate is in nobody's database; that is the only refusal.
    expect(given.filter((answer) => !/(?: answered|… cert_not_found|…\/[a-z-]+ cert_not_found)$/.test(answer))).toEqual([]);
  });
});
