// A real browser for tests: how it is launched, how a page is opened so that nothing it complains of goes unnoticed, and
// the accessibility check.
import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type LaunchOptions, type Page } from "playwright-core";
import { browserPath, type BrowserKind } from "../../scripts/browser.ts";
import { launchFirefox } from "./firefox.ts";

/** Chromium, unless `npm run browsers` asks for another one. */
export const launchBrowser = (kind: BrowserKind = "headless", options: LaunchOptions = {}): Promise<Browser> =>
  process.env.TEST_BROWSER === "firefox"
    ? launchFirefox(options)
    : chromium.launch({
        executablePath: browserPath(kind),
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
  readonly complaints: readonly string[];
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
  return { page, complaints, close: () => context.close() };
};

const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
const everyRule = { type: "tag" as const, values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
/** What light or dark and the width of the window change; names, roles, labels, order are the same in every window. */
const rulesOfLooks = { type: "rule" as const, values: ["color-contrast", "link-in-text-block", "target-size"] };

const findingsOf = async (page: Page, runOnly: typeof everyRule | typeof rulesOfLooks, within: string): Promise<string[]> => {
  await page.waitForLoadState(); // a press that leads to another page ends when that page begins
  // Evaluated, not added as a tag: a strict page allows no foreign script.
  await page.evaluate(axe);
  // Made into lines over there: what axe returns is megabytes, and nothing but the violations is asked for.
  return page.evaluate(
    async ([only, selector]) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      const { violations } = await axe.run(selector, { runOnly: only, resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
    },
    [runOnly, within] as const,
  );
};

/** What axe finds wrong, one line a finding; in all of the page, or within what a selector finds. */
export const accessibilityFindings = (page: Page, within = "html"): Promise<string[]> => findingsOf(page, everyRule, within);

/** Likewise, of a page that another test of the same file looks at with every rule in another window. */
export const findingsOfLooks = (page: Page, within = "html"): Promise<string[]> => findingsOf(page, rulesOfLooks, within);

/** True when nothing is wider than the window, so that nobody has to scroll sideways. */
export const fitsItsWidth = async (page: Page): Promise<boolean> => {
  await page.waitForLoadState();
  return page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
};
