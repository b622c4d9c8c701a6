// Provides the servers and the browser for the widget tests: a business site and, on another origin, a host that serves svc.js and issues
// certificates. Chromium, CORS and form submissions are real. Both servers record what they receive.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll } from "vitest";
import type { BrowserKind } from "../../scripts/browser.ts";
import { buildWidget } from "../../widget/build.mjs";
import { launchBrowser } from "../support/browser.ts";
import { type Received, readBytes, parseReceived } from "./received.ts";

/** One call as the API received it. */
export interface ApiCall {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  text: string;
  body: Record<string, unknown>;
  at: number;
  /** True if the browser aborted the request before the response. */
  aborted: boolean;
}

export interface MockResponse {
  status?: number;
  body?: unknown;
  headers?: Record<string, string>;
  delayMs?: number;
  /** `reset` closes the connection, `never` sends nothing, and `stall` sends headers and half a body and then stops. */
  fault?: "reset" | "never" | "stall";
  withoutCors?: boolean;
}

export interface WidgetEvent {
  type: string;
  detail: Record<string, unknown>;
  target: string;
}

export type Attributes = Record<string, string | undefined>;

export const defaultAttributes: Attributes = {
  "data-client-id": "pc_test_00widget",
  "data-mode": "consent",
  "data-purpose": "solar quote follow-up",
  "data-entities": "Acme Solar LLC|Bright Homes, Inc.",
  "data-checkbox-selector": "#consent",
  "data-disclosure-selector": "#terms",
};

export const terms = "I agree that Acme Solar LLC may call me about solar quotes.";

/** Builds a plain form. `inside` goes before the button; `button` replaces the button. */
export function buildPlainForm({ inside = "", button = '<button id="send" name="go" value="now">Send</button>', form = "" } = {}): string {
  return `<form action="{{action}}" method="post" id="lead" ${form}>
    <input name="first_name" value="Pat"><input type="email" name="email" value="pat@example.com">
    <input type="tel" name="phone" value="+1 202 555 0123">
    <input type="checkbox" id="consent" name="agree" value="yes"><label for="consent" id="terms">${terms}</label>
    ${inside}${button}</form>`;
}

/** An empty certificate field, which a page may already contain. */
export const placeholder = '<input type="hidden" name="svc_cert_id">';

/** The entries that the plain form sends without the widget. */
export const plainEntries = [
  ["first_name", "Pat"],
  ["email", "pat@example.com"],
  ["phone", "+1 202 555 0123"],
  ["agree", "yes"],
  ["go", "now"],
];

export const buildRefusal = (status: number, code: string, headers = {}): MockResponse => ({
  status,
  headers,
  body: { ok: false, error: { code, message: "A sentence." }, request_id: "req_7" },
});

export interface Visit {
  page: Page;
  context: BrowserContext;
  backend: Received[];
  calls: ApiCall[];
  events: WidgetEvent[];
  errors: string[];
  /** Warnings that the script logged to the console. */
  warnings: string[];
  url: string;
  /** Waits for `count` submissions, then a little longer, so that an extra one would be noticed. Returns the last one. */
  submitted(count?: number): Promise<Received>;
  /** Ends the time limits that the script has set so far, and returns their lengths in milliseconds. Until then, a form waits without limit. */
  endTimeLimits(): Promise<number[]>;
  /** Waits until a condition on the recorded data is true. */
  until(condition: () => boolean, what: string): Promise<void>;
  close(): Promise<void>;
}

interface TimeLimit {
  run: () => void;
  ms: number;
}

export interface VisitOptions {
  html: string;
  /** `false` loads the page without the widget. An object overrides single attributes; undefined removes one. */
  widget?: boolean | Attributes;
  /** The complete script element, which replaces the default. `{{src}}` is the widget's URL. */
  script?: string;
  /** Returns the response to the nth call. By default, each submission_id gets one certificate, even if it is sent again. */
  respond?: (call: ApiCall, n: number) => MockResponse | undefined | Promise<MockResponse | undefined>;
  /** The time that the default response takes, in milliseconds. */
  delayMs?: number;
  headers?: Record<string, string>;
  path?: string;
  /** A script that runs in the page before all others. */
  first?: string;
  /** Runs before the page loads, in a separate browser context. Without it, pages are reused, which is four times faster. */
  before?: (page: Page, context: BrowserContext) => Promise<unknown>;
}

export interface World {
  site: string;
  api: string;
  widget: Awaited<ReturnType<typeof buildWidget>>;
  scriptText: string;
  /** Unexpected requests to the API, such as a preflight or prefetch. */
  strays: string[];
  visit(options: VisitOptions): Promise<Visit>;
}

/** Creates a response that waits until the test releases it. */
export function createHeldResponse(): { release: () => void; respond: () => Promise<undefined> } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { release: () => resolve(undefined), respond: () => promise };
}

/**
 * Timers of at least this many milliseconds are the script's time limits. Pages hold them until the test ends them, so that a slow machine
 * cannot end a request before it has left the browser or before its response arrives. The timers of the test pages are shorter.
 */
const minTimeLimitMs = 500;

/** How long to wait for a second submission or call that must not follow. */
const quietMs = 100;

/** Starts the servers and the browser for all tests of a file, and stops them after the last one. */
export async function openWorld(browserKind: BrowserKind = "headless"): Promise<World> {
  const outDir = await mkdtemp(join(tmpdir(), "svc-widget-"));
  const widget = await buildWidget({ outDir });
  const [scriptText, shareText] = await Promise.all(["svc.js", "svc-share.js"].map((name) => readFile(join(outDir, "v1", name), "utf8")));
  await rm(outDir, { recursive: true });

  const browser = await launchBrowser(browserKind, { ignoreDefaultArgs: ["--disable-back-forward-cache"] });

  let visits = 0;
  const pages = new Map<string, { html: string; headers: Record<string, string> }>();
  const backends = new Map<string, Received[]>();
  type Line = { calls: ApiCall[]; respond: NonNullable<VisitOptions["respond"]>; delayMs: number };
  const lines = new Map<string, Line>();
  const idle: Page[] = [];

  const site = await listen(async (request, response) => {
    const url = new URL(request.url!, "http://site");
    const page = pages.get(url.pathname);
    const backend = backends.get(url.pathname);
    if (backend) {
      backend.push(await parseReceived(request, url));
      response.setHeader("content-type", "text/html");
      response.end('<!doctype html><title>Thanks</title><p id="thanks">Thank you</p>');
    } else if (page) {
      for (const [name, value] of Object.entries(page.headers)) response.setHeader(name, value);
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(page.html);
    } else {
      response.end("<!doctype html><title>Elsewhere</title>");
    }
  });

  const issued = new Map<string, { text: string; certId: string }>();
  const strays: string[] = [];
  const api = await listen(async (request, response) => {
    if (request.method === "GET") {
      response.setHeader("content-type", "text/javascript; charset=utf-8");
      response.setHeader("access-control-allow-origin", "*");
      response.end(request.url!.includes("/svc-share-") ? shareText : scriptText);
      return;
    }
    const text = (await readBytes(request)).toString();
    const body = text ? JSON.parse(text) : {};
    const line = lines.get(/\/page\/(\d+)/.exec(body.page_url)?.[1] ?? "");
    if (!line) {
      strays.push(`${request.method} ${request.url} ${text}`);
      response.end();
      return;
    }
    const { calls, respond, delayMs } = line;
    const call: ApiCall = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      text,
      body,
      at: Date.now(),
      aborted: false,
    };
    calls.push(call);
    response.on("close", () => {
      call.aborted = !response.writableFinished;
    });
    const given = (await respond(call, calls.length)) ?? issue(call, issued);
    if (given.fault === "never") return;
    if (given.fault === "reset") {
      request.socket.resetAndDestroy();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, given.delayMs ?? delayMs));
    if (!given.withoutCors) response.setHeader("access-control-allow-origin", "*");
    for (const [name, value] of Object.entries(given.headers ?? {})) response.setHeader(name, value);
    response.statusCode = given.status ?? 201;
    const content = typeof given.body === "string" ? given.body : JSON.stringify(given.body);
    if (given.fault === "stall") response.write(content.slice(0, 10));
    else response.end(content);
  });

  const siteOrigin = getOrigin(site);
  const apiOrigin = getOrigin(api);

  afterAll(async () => {
    await browser.close();
    site.closeAllConnections();
    api.closeAllConnections();
    site.close();
    api.close();
  });

  return {
    site: siteOrigin,
    api: apiOrigin,
    widget,
    scriptText: scriptText!,
    strays,
    async visit({
      html,
      widget: widgetOptions = true,
      script,
      respond = () => undefined,
      delayMs = 0,
      headers = {},
      path = "",
      first,
      before,
    }) {
      const id = ++visits;
      const pagePath = `/page/${id}${path}`;
      const action = `/backend/${id}`;
      const backend: Received[] = [];
      const calls: ApiCall[] = [];
      const events: WidgetEvent[] = [];
      const errors: string[] = [];
      const warnings: string[] = [];
      const src = `${apiOrigin}/v1/svc.js`;
      const tag =
        widgetOptions === false
          ? ""
          : (script ?? buildScriptTag(src, widgetOptions === true ? {} : widgetOptions)).replaceAll("{{src}}", src);
      const filled = html.includes("{{widget}}") ? html.replace("{{widget}}", () => tag) : `${tag}${html}`;
      pages.set(`/page/${id}`, {
        html: `<!doctype html><html lang="en">${filled.replaceAll("{{action}}", action).replaceAll("{{api}}", apiOrigin)}`,
        headers,
      });
      backends.set(action, backend);
      lines.set(String(id), { calls, respond, delayMs });

      const reused = before ? undefined : idle.pop();
      const page = reused ?? (await (await browser.newContext({ viewport: { width: 800, height: 600 } })).newPage());
      const context = page.context();
      let isThere = false; // until this is true, messages in a reused window come from the previous page
      page.on("framenavigated", (frame) => {
        isThere ||= frame === page.mainFrame() && /\/page\/(\d+)/.exec(frame.url())?.[1] === String(id);
      });
      page.on("pageerror", (error) => {
        if (isThere) errors.push(String(error));
      });
      page.on("console", (message) => {
        if (!isThere) return;
        if (message.text().startsWith("svc.js:")) warnings.push(message.text());
        const [mark, from, text] = message.text().split("\n");
        if (mark === "svc-event" && from!.includes(`/page/${id}`)) events.push(JSON.parse(text!));
      });
      if (!reused) {
        await page.addInitScript((minMs) => {
          const timeLimits: TimeLimit[] = [];
          const { setTimeout } = window;
          const holdTimeLimits = (run: () => void, ms = 0, ...rest: unknown[]) =>
            ms < minMs ? setTimeout(run, ms, ...rest) : -timeLimits.push({ run, ms });
          Object.assign(window, { timeLimits, setTimeout: holdTimeLimits });
        }, minTimeLimitMs);
        await page.addInitScript(() => {
          for (const type of ["svc:consent", "svc:consent-error"]) {
            document.addEventListener(type, (event) => {
              const { detail, target } = event as CustomEvent;
              const id = Element.prototype.getAttribute.call(target, "id");
              console.debug(["svc-event", document.baseURI, JSON.stringify({ type, detail, target: id })].join("\n"));
            });
          }
        });
      }
      const added = first === undefined ? undefined : await page.addInitScript(first);
      await before?.(page, context);
      await open(page, siteOrigin + pagePath);

      const waitUntil: Visit["until"] = async (condition, what) => {
        const deadline = Date.now() + 20_000; // far longer than working code needs on a busy machine
        while (!condition()) {
          if (Date.now() > deadline)
            throw new Error(`${what} did not happen; backend ${backend.length}, calls ${calls.length}, events ${JSON.stringify(events)}`);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      };
      return {
        page,
        context,
        backend,
        calls,
        events,
        errors,
        warnings,
        url: siteOrigin + pagePath,
        endTimeLimits: () =>
          page.evaluate(() =>
            (window as unknown as { timeLimits: TimeLimit[] }).timeLimits.splice(0).map(({ run, ms }) => {
              run();
              return ms;
            }),
          ),
        until: waitUntil,
        async submitted(count = 1) {
          await waitUntil(() => backend.length >= count, `submission ${count}`);
          await waitForQuiet();
          await page.evaluate(() => 0).catch(() => 0); // when this call returns, everything that the page has logged so far has arrived
          if (backend.length > count) throw new Error(`${backend.length} submissions arrived instead of ${count}`);
          return backend[count - 1]!;
        },
        async close() {
          for (const eventName of ["pageerror", "console", "framenavigated"]) page.removeAllListeners(eventName);
          await added?.dispose();
          if (before || context.pages().length > 1) await context.close();
          else idle.push(page);
        },
      };
    },
  };
}

/**
 * A reused page may still be navigating to the response of its last submission. The driver then reports this navigation as interrupted, but
 * the browser usually completes it. This function waits for that navigation before it tries again.
 */
async function open(page: Page, url: string): Promise<void> {
  const isThere = await page.goto(url).then(
    () => true,
    () =>
      page.waitForURL(url, { timeout: 3000 }).then(
        () => true,
        () => false,
      ),
  );
  if (!isThere) await page.goto(url);
}

/**
 * Clicks the mouse in the middle of the element once the element exists. This takes a quarter of the time of the driver's own click, which
 * first injects its own code into every page.
 */
export async function press(page: Page, selector: string): Promise<void> {
  const { x, y } = await page.evaluate(async (wanted) => {
    const find = () => document.querySelector(wanted);
    for (let attempt = 0; !find() && attempt < 1000; attempt++) await new Promise((resolve) => setTimeout(resolve, 20));
    const element = find();
    if (!element) throw new Error(`nothing matches ${wanted}`);
    element.scrollIntoView({ block: "center" });
    const box = element.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }, selector);
  await page.mouse.click(x, y);
}

/** Checks the box of the plain form and clicks its button. */
export async function tickAndClick(page: Page): Promise<void> {
  await press(page, "#consent");
  await press(page, "#send");
}

/** Fills in a value as autofill does: sets it in one step, then fires the events. */
export async function fill(page: Page, selector: string, value: string): Promise<void> {
  await page.evaluate(
    async ([wanted, text]) => {
      const find = () => document.querySelector<HTMLInputElement>(wanted);
      for (let attempt = 0; !find() && attempt < 1000; attempt++) await new Promise((resolve) => setTimeout(resolve, 20));
      const control = find();
      if (!control) throw new Error(`nothing matches ${wanted}`);
      control.value = text;
      if (control.value !== text.replace(/\r\n/g, "\n")) throw new Error(`${wanted} does not take ${text}`);
      for (const type of ["input", "change"]) control.dispatchEvent(new Event(type, { bubbles: true }));
    },
    [selector, value] as const,
  );
}

export async function waitForQuiet(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, quietMs));
}

export function buildScriptTag(src: string, overrides: Attributes = {}): string {
  const attributes = Object.entries({ ...defaultAttributes, ...overrides })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${String(value).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`);
  return `<script src="${src}" ${attributes.join(" ")}></script>`;
}

/** Loads the widget and calls Svc.initConsent; `handle` is the result. `{{src}}` is the widget's URL. */
export const buildInitScript = (options: string): string =>
  `<script src="{{src}}"></script><script>window.handle = Svc.initConsent({ clientId: 'pc_test_00widget', purpose: 'p',
    entities: ['Acme, Inc.'], checkboxSelector: '#consent', disclosureSelector: '#terms', ${options} })</script>`;

/** Responds as the service does: one certificate per submission_id, and a conflict if the same ID arrives with different content. */
function issue(call: ApiCall, issued: Map<string, { text: string; certId: string }>): MockResponse {
  const key = String(call.body.submission_id);
  const known = issued.get(key);
  if (known && known.text !== call.text) {
    return { status: 409, body: { ok: false, error: { code: "idempotency_conflict", message: "x" }, request_id: "req_1" } };
  }
  const certId = known?.certId ?? `cc_${issued.size + 1}`;
  issued.set(key, { text: call.text, certId });
  return { body: buildSuccess(certId) };
}

export function buildSuccess(certId: string) {
  return {
    ok: true,
    data: {
      cert_id: certId,
      fingerprint: "ab".repeat(32),
      issued_at: "2026-11-20T10:05:00.000Z",
      verify_url: `https://verify.example/c/${certId}`,
      status: "active",
      environment: "sandbox",
      manage_url: `https://verify.example/c/${certId}#m=token`,
    },
    request_id: "req_1",
  };
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Promise<Server> {
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

function getOrigin(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
