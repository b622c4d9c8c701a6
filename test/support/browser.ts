// Launches a real browser, opens pages so that every console message and error is recorded, and checks accessibility.
import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type LaunchOptions, type Page } from "playwright-core";
import { findBrowserPath, type BrowserKind } from "../../scripts/browser.ts";
import { launchFirefox } from "./firefox.ts";

/** Launches Chromium, or Firefox when `npm run browsers` sets TEST_BROWSER. */
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
  /** Console errors and warnings, refused loads, uncaught exceptions and dialogs. Tests assert that this is empty. */
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
}

/** Opens a page in a new context, without cookies, cache or history of other tests. */
export const openPage = async (browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> => {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, problems, close: () => context.close() };
};

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const allRules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/** Rules whose result depends on the color scheme or the window width. Names, roles, labels and order do not. */
const appearanceRules = ["color-contrast", "link-in-text-block", "target-size"];
const preparedPages = new WeakSet<Page>();

/** Evaluates axe instead of adding a script tag, which a strict content policy would block. Later loads of the page include it. */
const injectAxe = async (page: Page): Promise<void> => {
  await page.waitForLoadState(); // a click that opens another page resolves when that page starts loading
  if (await page.evaluate(() => "axe" in globalThis)) return;
  await page.evaluate(axe);
  if (preparedPages.has(page)) await page.addInitScript(axe); // half of what evaluating it costs
  preparedPages.add(page);
};

const runAxe = (page: Page, type: "tag" | "rule", values: readonly string[], within: string): Promise<string[]> =>
  // Formatted in the page, because the full result of axe is megabytes.
  page.evaluate(
    async ([only, selector]) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      const { violations } = await axe.run(selector, { runOnly: { ...only, values: [...only.values] }, resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
    },
    [{ type, values }, within] as const,
  );

/** Violations of every axe rule, one line each, in the page or within an element. */
export const accessibilityFindings = async (page: Page, within = "html"): Promise<string[]> => {
  await injectAxe(page);
  return runAxe(page, "tag", allRules, within);
};

/** Violations of the appearance rules only, for a page that another test checks with every rule. */
export const appearanceFindings = async (page: Page, within = "html"): Promise<string[]> => {
  await injectAxe(page);
  return runAxe(page, "rule", appearanceRules, within);
};

/** True when nothing is wider than the window. */
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
  /** Selector of the element to check; default is the whole page. */
  readonly within?: string;
  /** Returns further findings in each window, one line each. */
  readonly also?: (page: Page, appearance: Appearance) => Promise<readonly string[]>;
}

/**
 * Checks a page in several windows without loading it again: every axe rule in the first window, the appearance rules in the others, and
 * the page width in all of them. Leaves the page in the first window's state.
 */
export const findingsInWindows = async (
  page: Page,
  appearances: readonly Appearance[],
  { within = "html", also }: AppearanceOptions = {},
): Promise<string[]> => {
  await injectAxe(page);
  const height = page.viewportSize()?.height ?? 900;
  const show = async ({ colorScheme, width }: Appearance): Promise<void> => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
  };
  const findings: string[] = [];
  for (const [at, appearance] of appearances.entries()) {
    await show(appearance);
    const found = at === 0 ? await runAxe(page, "tag", allRules, within) : await runAxe(page, "rule", appearanceRules, within);
    if (!(await hasNoHorizontalScroll(page))) found.push("too wide");
    found.push(...((await also?.(page, appearance)) ?? []));
    findings.push(...found.map((finding) => `${appearance.colorScheme}, ${appearance.width} pixels: ${finding}`));
  }
  const [first] = appearances;
  if (first !== undefined) await show(first);
  return findings;
};
