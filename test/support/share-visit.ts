// Opens a page that has a share button, and provides access to the page's events and to the consent sheet.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import type { FakeService } from "./fake-sheet.ts";

export interface ReceivedEvent {
  readonly type: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The ID or class of the element that dispatched the event. */
  readonly from: string;
  readonly page: Page;
}

export interface ShareVisit {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly events: ReceivedEvent[];
  readonly errors: string[];
  readonly warnings: string[];
  /** Clicks the share button and returns the window that opens. */
  readonly openSheet: () => Promise<Page>;
  readonly waitForEvent: (type: string, count?: number) => Promise<ReceivedEvent>;
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

/** Builds a business page with a form and a share tag. `body` replaces the form. */
export const sharePage = (
  fake: FakeService,
  { attributes = {}, body = shareForm, lang = "en" }: { attributes?: Attributes; body?: string; lang?: string } = {},
): string =>
  `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Quote</title></head><body><main><h1>Quote</h1>${body}${renderShareTag(fake.service, attributes)}</main></body></html>`;

/** Records the widget's events on every page that the context loads from now on. */
export const recordEvents = async (context: BrowserContext, events: ReceivedEvent[]): Promise<void> => {
  await context.exposeBinding("svcHeard", ({ page }, event: Omit<ReceivedEvent, "page">) => {
    events.push({ ...event, page });
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
    context: existingContext,
  }: { path?: string; before?: string; options?: BrowserContextOptions; context?: BrowserContext } = {},
): Promise<ShareVisit> => {
  const context = existingContext ?? (await browser.newContext({ viewport: { width: 900, height: 700 }, ...options }));
  const events: ReceivedEvent[] = [];
  const errors: string[] = [];
  const warnings: string[] = [];
  if (existingContext === undefined) {
    await context.clock.install(); // the clock runs in real time until `letTimersRun` moves it forward
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
  const waitForEvent = async (type: string, count = 1): Promise<ReceivedEvent> => {
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
    waitForEvent: waitForEvent,
    close: () => context.close(),
  };
};

/** Performs an action that closes the sheet, and waits until it is closed. In Firefox, closing the window makes the action fail. */
export const waitUntilClosed = async (sheet: Page, act: () => Promise<unknown>): Promise<void> => {
  const cutShort = (error: unknown): void => {
    if (!sheet.isClosed()) throw error;
  };
  await Promise.all([sheet.waitForEvent("close"), act().catch(cutShort)]);
};

/** Returns a form's values by field name. */
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
 * Moves the page's clock forward until all of the page's timers have fired: its polling, and its one-second wait for a response. Then waits
 * for the requests that follow.
 */
export const letTimersRun = async ({ context }: Pick<ShareVisit, "context">): Promise<void> => {
  await context.clock.runFor(1_500);
  await new Promise((resolve) => setTimeout(resolve, 100));
};

/**
 * Moves the page's clock past the first half second of a window. During that time, the sheet ignores clicks, because they may have been
 * meant for the page below. Needs a context with an installed clock.
 */
export const waitUntilClickable = async (page: Page): Promise<void> => {
  await page.waitForLoadState(); // the script has now recorded when the window opened
  await page.waitForTimeout(100); // it has now recorded when the window got the focus
  await page.clock.runFor(500);
};
