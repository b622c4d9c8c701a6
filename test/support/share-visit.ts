// A visit to a page with a share button: what the page heard, and how the sheet is found and answered.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { FakeService } from "./fake-sheet.ts";

export interface HeardEvent {
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The id or class of the element it came from. */
  readonly from: string;
  readonly page: Page;
}

export interface ShareVisit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly events: HeardEvent[];
  readonly errors: string[];
  readonly warnings: string[];
  /** Presses the button and gives the window that opens. */
  readonly openSheet: () => Promise<Page>;
  /** Waits for the nth event of a type. */
  readonly waitForEvent: (type: string, count?: number) => Promise<HeardEvent>;
  readonly close: () => Promise<void>;
}

export const shareButtonSelector = ".svc-share button";

export const shareForm = `<form id="lead" action="/thanks" method="post">
<label>First name <input name="first_name"></label> <label>Last name <input name="last_name"></label>
<label>E-mail <input name="email" type="email"></label> <label>Phone <input name="phone" type="tel"></label></form>`;

export type Attributes = Readonly<Record<string, string | undefined>>;

export const renderShareTag = (service: string, attributes: Attributes = {}): string => {
  const all: Attributes = {
    "data-client-id": "pc_test_00share",
    "data-mode": "share",
    "data-purpose": "solar quote",
    "data-scope": "name email, phone?",
    ...attributes,
  };
  const written = Object.entries(all).filter(([, value]) => value !== undefined);
  return `<script src="${service}/v1/svc.js" ${written.map(([name, value]) => `${name}="${String(value).replaceAll('"', "&quot;")}"`).join(" ")}></script>`;
};

/** A page as businesses write it; `body` replaces what stands in it. */
export const sharePage = (
  fake: FakeService,
  { attributes = {}, body = shareForm, lang = "en" }: { attributes?: Attributes; body?: string; lang?: string } = {},
): string =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Quote</title></head><body><main><h1>Quote</h1>${body}${renderShareTag(fake.service, attributes)}</main></body></html>`;

/** Keeps what the pages of a context hear from now on, in any loading of them. */
export const recordEvents = async (context: BrowserContext, events: HeardEvent[]): Promise<void> => {
  await context.exposeBinding("svcHeard", ({ page }, said: Omit<HeardEvent, "page">) => {
    events.push({ ...said, page });
  });
  await context.addInitScript(`for (const type of ["svc:share", "svc:share-error", "svc:closed", "svc:consent", "svc:consent-error"])
    addEventListener(type, ({ detail, target }) => svcHeard({ type, detail, from: target.id || target.className || "document" }));`);
};

export const visitShare = async (
  browser: Browser,
  fake: FakeService,
  {
    path = "/page?utm=1&utm=2#offer",
    before = "",
    options = {},
    context: given,
  }: { path?: string; before?: string; options?: BrowserContextOptions; context?: BrowserContext } = {},
): Promise<ShareVisit> => {
  const context = given ?? (await browser.newContext({ viewport: { width: 900, height: 700 }, ...options }));
  const events: HeardEvent[] = [];
  const errors: string[] = [];
  const warnings: string[] = [];
  if (given === undefined) {
    await context.clock.install(); // it goes on by itself, until `quietly` puts it forward
    await recordEvents(context, events);
    if (before !== "") await context.addInitScript(before);
  }
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.text().startsWith("svc.js:")) warnings.push(message.text());
  });
  if (fake.settings.html === "") fake.settings.html = sharePage(fake);
  await page.goto(fake.site + path);
  const heard = async (type: string, count = 1): Promise<HeardEvent> => {
    const deadline = Date.now() + 20_000;
    for (;;) {
      const found = events.filter((event) => event.type === type)[count - 1];
      if (found !== undefined) return found;
      if (Date.now() > deadline)
        throw new Error(`no ${type}; heard ${JSON.stringify(events.map(({ type, detail }) => [type, detail]))} ${errors.join()}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    page,
    context,
    events,
    errors,
    warnings,
    openSheet: async () => {
      const [sheet] = await Promise.all([context.waitForEvent("page"), page.click(shareButtonSelector)]);
      return sheet;
    },
    waitForEvent: heard,
    close: () => context.close(),
  };
};

/** Waits until a window has closed itself; in Firefox that breaks off the click it follows from. */
export const waitUntilClosed = async (sheet: Page, act: () => Promise<unknown>): Promise<void> => {
  const cutShort = (error: unknown): void => {
    if (!sheet.isClosed()) throw error;
  };
  await Promise.all([sheet.waitForEvent("close"), act().catch(cutShort)]);
};

/** What stands in the form. */
export const readFormValues = (page: Page, selector = "#lead"): Promise<Record<string, string>> =>
  page.evaluate(
    (wanted) =>
      Object.fromEntries(
        [...new FormData(document.querySelector(wanted) as HTMLFormElement)].map(([name, value]) => [name, String(value)]),
      ),
    selector,
  );

export const filledValues = { first_name: "Pat", last_name: "Sample", email: "pat@example.com", phone: "+12025550123" };

/**
 * As if longer had passed than everything the page might still do by itself: its poll and the second it gives an answer. What that
 * asks of anybody has arrived a moment later.
 */
export const assertNoErrors = async ({ context }: Pick<ShareVisit, "context">): Promise<void> => {
  await context.clock.runFor(1_500);
  await new Promise((resolve) => setTimeout(resolve, 100));
};

/**
 * A press within half a second of the window coming up is taken for one that was meant for the page below. Of a page whose context has
 * a clock that can be put forward.
 */
export const waitUntilSettled = async (page: Page): Promise<void> => {
  await page.waitForLoadState(); // its script has noted when it came up
  await page.waitForTimeout(100); // and when it got the focus
  await page.clock.runFor(500);
};
