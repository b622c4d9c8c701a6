// Launches a real browser, opens pages, records their console errors and warnings, and checks accessibility.
import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type LaunchOptions, type Page, type CDPSession } from "playwright-core";
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
  /** Console errors and warnings, blocked requests, uncaught exceptions and dialogs. Tests assert that this is empty. */
  readonly problems: readonly string[];
  readonly close: () => Promise<void>;
}

/** Opens a page in a new context, without the cookies, cache or history of other tests. */
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

/** Axe without the HTML of every element it checks. No test reads the HTML, and copying it takes a quarter as long as running all rules. */
const axe = `${readFileSync("node_modules/axe-core/axe.min.js", "utf8")}\naxe.configure({ noHtml: true });`;
const allRules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const colorRules = ["color-contrast", "link-in-text-block"];
/**
 * Rules whose result depends on the color scheme or the window width. The other rules (names, roles, labels, order) give the same result in
 * every window.
 */
const appearanceRules = [...colorRules, "target-size"];
const preparedPages = new WeakSet<Page>();

/**
 * Evaluates axe instead of adding a script tag, because a strict content security policy would block the tag. If a page needs axe again
 * after a navigation, an init script loads axe from then on.
 */
const injectAxe = async (page: Page): Promise<void> => {
  await page.waitForLoadState(); // a click that opens another page resolves as soon as that page starts loading
  if (await page.evaluate(() => "axe" in globalThis)) return;
  await page.evaluate(axe);
  if (preparedPages.has(page)) await page.addInitScript(axe); // an init script takes half as long as evaluating axe again
  preparedPages.add(page);
};

const runAxe = (page: Page, type: "tag" | "rule", values: readonly string[], within: string): Promise<string[]> =>
  // The result is formatted in the page, because axe's full result is several megabytes long.
  page.evaluate(
    async ([only, selector]) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      const { violations } = await axe.run(selector, { runOnly: { ...only, values: [...only.values] }, resultTypes: ["violations"] });
      return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
    },
    [{ type, values }, within] as const,
  );

/** Lists violations of every axe rule in the page, one line each. */
export const findAccessibilityIssues = async (page: Page): Promise<string[]> => {
  await injectAxe(page);
  return runAxe(page, "tag", allRules, "html");
};

/** Lists violations of the appearance rules only, for pages on which another test checks all rules. */
export const findAppearanceIssues = async (page: Page, within = "html"): Promise<string[]> => {
  await injectAxe(page);
  return runAxe(page, "rule", appearanceRules, within);
};

/** Lists the icons that the page refers to but does not define. They would be blank. */
export const findMissingIcons = (page: Page): Promise<string[]> =>
  page.locator('use[href^="#"]').evaluateAll((uses) => {
    const names = uses.map((use) => use.getAttribute("href")?.slice(1) ?? "");
    return [...new Set(names)].filter((name) => document.getElementById(name) === null);
  });

export const hasNoHorizontalScroll = async (page: Page): Promise<boolean> => {
  await page.waitForLoadState();
  return page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
};

/**
 * Describes the position, size and visibility of every element. Pages with the same description have the same violations of the rule about
 * target sizes.
 */
const describeLayout = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...document.querySelectorAll("*")]
      .map((element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return [x, y, width, height, element.checkVisibility({ visibilityProperty: true })].join(" ");
      })
      .join(),
  );

export interface Appearance {
  readonly colorScheme: "light" | "dark";
  readonly width: number;
}
export const wideAndNarrowAppearances = [
  { colorScheme: "light", width: 1_280 },
  { colorScheme: "dark", width: 320 },
] as const satisfies readonly Appearance[];

export interface AppearanceOptions {
  /** Selector of the element to check. The default is the whole page. */
  readonly within?: string;
  /** Makes additional checks in each window. Returns findings, one line each. */
  readonly also?: (page: Page, appearance: Appearance) => Promise<readonly string[]>;
}

/**
 * Checks a page in several windows without reloading it. Checks every axe rule in the first window, the appearance rules in the others, and
 * the page width in all of them. Checks target sizes once for each layout, which usually depends only on the width. Leaves the page in the
 * first window's state.
 */
export const findIssuesInWindows = async (
  page: Page,
  appearances: readonly Appearance[],
  { within = "html", also }: AppearanceOptions = {},
): Promise<string[]> => {
  await injectAxe(page);
  const height = page.viewportSize()?.height ?? 900;
  let shown: Appearance | null = null;
  const show = async (appearance: Appearance): Promise<void> => {
    const { colorScheme, width } = appearance;
    if (colorScheme !== shown?.colorScheme) await page.emulateMedia({ colorScheme });
    if (width !== shown?.width) await page.setViewportSize({ width, height });
    shown = appearance;
  };
  const findings: string[] = [];
  const checkedLayouts = new Set<string>();
  for (const [at, appearance] of appearances.entries()) {
    await show(appearance);
    const layout = await describeLayout(page);
    const rules = checkedLayouts.has(layout) ? colorRules : appearanceRules;
    checkedLayouts.add(layout);
    const found = at === 0 ? await runAxe(page, "tag", allRules, within) : await runAxe(page, "rule", rules, within);
    if (!(await hasNoHorizontalScroll(page))) found.push("too wide");
    found.push(...((await also?.(page, appearance)) ?? []));
    findings.push(...found.map((finding) => `${appearance.colorScheme}, ${appearance.width} pixels: ${finding}`));
  }
  const [first] = appearances;
  if (first !== undefined) await show(first);
  return findings;
};

/** Adds an authenticator that confirms every passkey prompt of the page. Send `WebAuthn.disable` to the returned session to remove it. */
export const addVirtualAuthenticator = async (page: Page): Promise<CDPSession> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return devtools;
};
