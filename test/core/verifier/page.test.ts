// Tests the self-checking page in a real browser, opened from disk: its results, that it makes no network requests, and that it detects
// changed copies.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildEvidenceHtml, buildEvidenceZip } from "../../../core/certificates/evidence-pack.ts";
import { bundleVerifier } from "../../../verifier/build.ts";
import { findAccessibilityIssues, hasNoHorizontalScroll, launchBrowser, openPage } from "../../support/browser.ts";
import { trustDocument, buildWorld } from "./evidence.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-page-"));
let browser: Browser;
let good: string;
let fingerprint: string;

beforeAll(async () => {
  browser = await launchBrowser();
  const { parts } = await buildWorld({ isRevoked: true });
  fingerprint = parts.opened.certificate.fingerprint;
  good = await buildEvidenceHtml(parts, (await bundleVerifier()).page);
  writeFileSync(join(folder, "trust.json"), JSON.stringify(trustDocument));
  writeFileSync(join(folder, "other.json"), "[]");
});
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

const openHtml = async (html: string) => {
  const path = join(folder, "evidence.html");
  writeFileSync(path, html);
  const context = await openPage(browser);
  const requests: string[] = [];
  context.page.on("request", (request) => requests.push(request.url()));
  await context.page.goto(pathToFileURL(path).href);
  const waitForVerdict = async (verdict: string): Promise<string> => {
    await context.page.waitForSelector(`#verdict[data-verdict="${verdict}"]`);
    return (await context.page.textContent("#verdict")) ?? "";
  };
  return { ...context, requests, settled: waitForVerdict };
};

/** Replaces one letter of the pack with "A", or an "A" with "B", so that the pack stays valid base64. */
const changeByte = (html: string, at: number): string => {
  const start = html.indexOf('id="pack">') + 'id="pack">'.length + at;
  const letter = html[start] === "A" ? "B" : "A";
  return html.slice(0, start) + letter + html.slice(start + 1);
};

describe("the page from disk", () => {
  test("checks its pack with the bundled keys and reports that the reader's keys are missing", async () => {
    const { page, settled, problems, requests, close } = await openHtml(good);
    const message = await settled("incomplete");
    expect(message).toMatch(/^33 checks passed and none failed, with the pack's own copy of the keys\./);
    expect(message).toContain("Not proven yet: whose keys these are, because they came with the pack.");
    expect(await page.locator('tr[data-outcome="pass"]').count()).toBe(33);
    expect(await page.locator('tr[data-outcome="fail"]').count()).toBe(0);
    expect(problems).toEqual([]);
    expect(requests.filter((url) => !url.startsWith("file:"))).toEqual([]);
    expect(requests).toHaveLength(1);
    await close();
  });

  test("is valid after the reader selects a trust file", async () => {
    const { page, settled, problems, close } = await openHtml(good);
    await page.setInputFiles("#trust", join(folder, "trust.json"));
    expect(await settled("valid")).toContain("Every check passed.");
    await page.fill("#fingerprint", "0".repeat(64));
    await page.locator("#fingerprint").blur();
    expect(await settled("invalid")).toContain("fp.hash");
    // Spaces around the fingerprint are often copied with it.
    await page.fill("#fingerprint", "");
    await page.locator("#fingerprint").focus();
    await page.keyboard.insertText(` ${fingerprint} `);
    await page.locator("#fingerprint").blur();
    await settled("valid");
    expect(problems).toEqual([]);
    await close();
  });

  test("refuses a file that is not a trust document", async () => {
    const { page, settled, close } = await openHtml(good);
    await settled("incomplete");
    await page.setInputFiles("#trust", join(folder, "other.json"));
    await page.waitForFunction(() => (document.getElementById("trust") as HTMLInputElement).validationMessage !== "");
    await settled("incomplete");
    await close();
  });

  test("shows the certificate and a table of checks, and passes the accessibility rules", async () => {
    const { page, settled, close } = await openHtml(good);
    await settled("incomplete");
    expect(await page.textContent("blockquote")).toContain('By clicking "Submit" I agree');
    expect(await page.locator("#checks tr").count()).toBe(38);
    expect(await page.textContent('tr[data-check="fp.hash"]')).toContain("The fingerprint is the SHA-256 of the record.");
    expect(await findAccessibilityIssues(page)).toEqual([]);
    for (const width of [320, 1_200]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await hasNoHorizontalScroll(page)).toBe(true);
    }
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("#trust").isVisible()).toBe(false);
    expect(await page.locator("#checks").isVisible()).toBe(true);
    await close();
  });

  test("downloads the pack as the original zip", async () => {
    const { page, settled, close } = await openHtml(good);
    await settled("incomplete");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    expect(download.suggestedFilename()).toBe("evidence-cc_009w4k2m7q1x8z3v5t6r0nabcd.zip");
    const saved = readFileSync(await download.path());
    expect(Buffer.compare(saved, Buffer.from(await buildEvidenceZip((await buildWorld({ isRevoked: true })).parts)))).toBe(0);
    await close();
  });

  test("shows that nothing was checked when scripts are off", async () => {
    const path = join(folder, "evidence.html");
    writeFileSync(path, good);
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(pathToFileURL(path).href);
    expect(await page.textContent("#verdict")).toContain("Not checked.");
    await close();
  });
});

describe("a changed copy", () => {
  test.each([100, 9_000, 33_333, 60_000])("names the failed check when one letter of the pack changes at %d", async (at) => {
    const { page, settled, close } = await openHtml(changeByte(good, at));
    expect(await settled("invalid")).toContain("zip.structure");
    expect(await page.getAttribute("#verdict", "data-failed")).toBe("zip.structure");
    await close();
  });

  test("is corrected when it shows a different certificate than the pack", async () => {
    const { page, settled, close } = await openHtml(good.replace("4 March 2026, 05", "4 March 2025, 05"));
    expect(await settled("invalid")).toContain("did not match the pack");
    expect(await page.textContent("#certificate")).toContain("4 March 2026");
    await close();
  });

  test("does not run a foreign script, because the page allows only its own hash", async () => {
    const forged = good.replace("<script>", "<script>document.title = 'forged';");
    const { page, problems, close } = await openHtml(forged);
    expect(await page.title()).not.toBe("forged");
    expect(await page.textContent("#verdict")).toContain("Not checked.");
    expect(problems.join()).toContain("Content Security Policy");
    await close();
  });
});

describe("a verifier with a closing script tag", () => {
  test("is refused when the page is built", async () => {
    const { parts } = await buildWorld();
    await expect(buildEvidenceHtml(parts, "const a = '</script>';")).rejects.toThrow(TypeError);
  });
});
