// A real browser for tests: how it is launched, how a page is opened so that nothing it complains of goes unnoticed, and
// the accessibility check.
import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type LaunchOptions, type Page } from "playwright-core";
import { findBrowserPath, type BrowserKind } from "../../scripts/browser.ts";
import { launchFirefox } from "./firefox.ts";

/** Chromium, unless `npm run browsers` asks for another one. */
export const launchBrowser = (kind: BrowserKind = "headless", options: LaunchOptions = {}): Promise<Browser> =>
  process.env.TEST_BROWSER === "firefox"
    ? launchFirefox(options)
    : chromium.launch({
        executablePath: findBrowserPath(kind),
        args: [
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
        ],
        ...options,
      });

export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings of the console, refused loads, uncaught exceptions, dialogs. A test that expects none says so. */
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
}

/** A page in a context of its own: no cookie, no cache, no history of another test. */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> => {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, problems: complaints, close: () => context.close() };
};

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const allRules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** What light or dark and the width of the window change; names, roles, labels, order are the same in every window. */
const appearanceRules = ["color-contrast", "link-in-text-block", "target-size"];
const preparedPages = new WeakSet<Page>();

/** Evaluated, not added as a tag: a strict page allows no foreign script. A page that is looked at again brings it along by itself. */
const injectAxe = async (page: Page): Promise<void> => {
  await page.waitForLoadState(); // a press that leads to another page ends when that page begins
  if (await page.evaluate(() => "axe" in globalThis)) return;
  await page.evaluate(axe);
  if (preparedPages.has(page)) await page.addInitScript(axe); // half of what evaluating it costs
  preparedPages.add(page);
};

const runAxe = (page: Page, type: "tag" | "rule", values: readonly string[], within: string): Promise<string[]> =>
  // Made into lines over there: what axe returns is megabytes, and nothing but the violations is asked for.
  page.evaluate(
    async ([only, selector]) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      const { violations } = await axe.run(selector, { runOnly: { ...only, values: [...only.values] }, resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
    },
    [{ type, values }, within] as const,
  );

/** What axe finds wrong, one line a finding; in all of the page, or within what a selector finds. */
export const accessibilityFindings = async (page: Page, within = "html"): Promise<string[]> => {
  await injectAxe(page);
  return runAxe(page, "tag", allRules, within);
};

/** Likewise, of a page that another test of the same file looks at with every rule in another window. */
export const appearanceFindings = async (page: Page, within = "html"): Promise<string[]> => {
  await injectAxe(page);
  return runAxe(page, "rule", appearanceRules, within);
};

/** True when nothing is wider than the window, so that nobody has to scroll sideways. */
export const hasNoHorizontalScroll = async (page: Page): Promise<boolean> => {
  await page.waitForLoadState();
  return page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
};

export interface Appearance {
  readonly colorScheme: "light" | "dark";
  /** In pixels. */
  readonly width: number;
}
export const wideAndNarrowAppearances = [
  { colorScheme: "light", width: 1_280 },
  { colorScheme: "dark", width: 320 },
] as const satisfies readonly Appearance[];

export interface AppearanceOptions {
  /** What a selector finds; all of the page without it. */
  readonly within?: string;
  /** What else is wrong in each window, one line each. */
  readonly also?: (page: Page, look: Appearance) => Promise<readonly string[]>;
}

/**
 * What is wrong with a page in each of some windows, without loading it again: what axe finds with every rule in the first, with the rules
 * of looks in the others, and whether anything is wider than the window. The page is left as it is in the first.
 */
export const findingsInWindows = async (
  page: Page,
  looks: readonly Appearance[],
  { within = "html", also }: AppearanceOptions = {},
): Promise<string[]> => {
  await injectAxe(page);
  const height = page.viewportSize()?.height ?? 900;
  const show = async ({ colorScheme, width }: Appearance): Promise<void> => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
  };
  const findings: string[] = [];
  for (const [at, look] of looks.entries()) {
    await show(look);
    const found = at === 0 ? await runAxe(page, "tag", allRules, within) : await runAxe(page, "rule", appearanceRules, within);
    if (!(await hasNoHorizontalScroll(page))) found.push("too wide");
    found.push(...((await also?.(page, look)) ?? []));
    findings.push(...found.map((finding) => `${look.colorScheme}, ${look.width} pixels: ${finding}`));
  }
  const [first] = looks;
  if (first !== undefined) await show(first);
  return findings;
};
