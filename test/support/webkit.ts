// Runs WebKit for the cross-browser tests: Debian's WebKitGTK MiniBrowser on a virtual screen. playwright-core drives only its own build of
// WebKit, so this file contains a small W3C WebDriver client.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { webkit } from "../../scripts/browser.ts";
import { findFreePort } from "./local-service.ts";

const waitTimeoutMs = 20_000;

/** Polls until `find` returns a value. Throws after 20 seconds. */
export const waitFor = async <T>(what: string, find: () => Promise<T | undefined | null | false>): Promise<T> => {
  const deadline = Date.now() + waitTimeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== null && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`no ${what} after ${waitTimeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

export interface WebKitWindow {
  readonly goTo: (url: string) => Promise<void>;
  readonly url: () => Promise<URL>;
  readonly reload: () => Promise<void>;
  readonly back: () => Promise<void>;
  /** Waits until an element is displayed and returns its text. */
  readonly see: (css: string) => Promise<string>;
  readonly click: (css: string, times?: 1 | 2) => Promise<void>;
  readonly type: (css: string, text: string) => Promise<void>;
  /** Runs a function body in the page. */
  readonly run: <T>(body: string, ...args: readonly unknown[]) => Promise<T>;
  readonly resize: (width: number, height: number) => Promise<void>;
  readonly close: () => Promise<void>;
  readonly isOpen: () => Promise<boolean>;
}

/** A browser session with its cookies and windows. */
export interface WebKit {
  readonly first: WebKitWindow;
  readonly count: () => Promise<number>;
  /** Performs an action and returns the window that opens. */
  readonly opened: (act: () => Promise<unknown>) => Promise<WebKitWindow>;
  readonly newWindow: () => Promise<WebKitWindow>;
  readonly addCookie: (name: string, value: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

const elementKey = "element-6066-11e4-a52e-4f735466cecf"; // WebDriver's member name for an element reference

interface WebDriverError {
  readonly error: string;
  readonly message: string;
}

export interface WebKitDriver {
  readonly open: () => Promise<WebKit>;
  readonly stop: () => void;
}

export const startWebKit = async (): Promise<WebKitDriver> => {
  const screen = spawn(webkit.screen, ["-displayfd", "3", "-screen", "0", "1280x1024x24"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [display] = (await once((screen.stdio as unknown as NodeJS.ReadableStream[])[3] as NodeJS.ReadableStream, "data")) as [Buffer];
  const port = await findFreePort();
  const driver: ChildProcess = spawn(webkit.driver, [`--port=${port}`, "--host=127.0.0.1"], {
    stdio: "ignore",
    env: { ...process.env, DISPLAY: `:${String(display).trim()}` },
  });

  const send = async <T>(method: string, path: string, body?: object): Promise<T | WebDriverError> => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, ...sent });
    return ((await response.json()) as { readonly value: T | WebDriverError }).value;
  };
  const isRefusal = (value: unknown): value is WebDriverError => typeof value === "object" && value !== null && "error" in value;
  const sendOrThrow = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const value = await send<T>(method, path, body);
    if (isRefusal(value)) throw new Error(`${path}: ${value.error}, ${value.message}`);
    return value;
  };
  await waitFor("WebKitWebDriver", () => send<object>("GET", "/status").catch(() => undefined));

  const open = async (): Promise<WebKit> => {
    const options = { binary: webkit.browser, args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": options } };
    const { sessionId } = await sendOrThrow<{ sessionId: string }>("POST", "/session", { capabilities });
    const at = `/session/${sessionId}`;
    const listHandles = (): Promise<string[]> => sendOrThrow("GET", `${at}/window/handles`);

    const createWindowView = (handle: string): WebKitWindow => {
      const switchToWindow = async (): Promise<void> => void (await sendOrThrow("POST", `${at}/window`, { handle }));
      const run = async <T>(script: string, ...args: readonly unknown[]): Promise<T> => {
        await switchToWindow();
        return sendOrThrow("POST", `${at}/execute/sync`, { script, args });
      };
      const findVisible = (css: string): Promise<string> =>
        waitFor(css, async () => {
          await switchToWindow();
          const found = await send<Record<string, string>>("POST", `${at}/element`, { using: "css selector", value: css });
          if (isRefusal(found)) return undefined;
          const isSeen = await send<boolean>("GET", `${at}/element/${found[elementKey]}/displayed`);
          return isSeen === true && found[elementKey];
        });
      return {
        goTo: async (url) => {
          await switchToWindow();
          await sendOrThrow("POST", `${at}/url`, { url });
        },
        url: async () => {
          await switchToWindow();
          return new URL(await sendOrThrow("GET", `${at}/url`));
        },
        reload: async () => {
          await switchToWindow();
          await sendOrThrow("POST", `${at}/refresh`, {});
        },
        back: async () => {
          await switchToWindow();
          await sendOrThrow("POST", `${at}/back`, {});
        },
        see: async (css) => sendOrThrow("GET", `${at}/element/${await findVisible(css)}/text`),
        click: async (css, times = 1) => {
          const element = await findVisible(css);
          if (times === 1) await sendOrThrow("POST", `${at}/element/${element}/click`, {});
          else {
            const press = [
              { type: "pointerDown", button: 0 },
              { type: "pointerUp", button: 0 },
            ];
            const move = { type: "pointerMove", origin: { [elementKey]: element }, x: 0, y: 0 };
            const mouse = { type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions: [move, ...press, ...press] };
            await sendOrThrow("POST", `${at}/actions`, { actions: [mouse] });
          }
        },
        type: async (css, text) => {
          const element = await findVisible(css);
          await sendOrThrow("POST", `${at}/element/${element}/clear`, {});
          await sendOrThrow("POST", `${at}/element/${element}/value`, { text });
        },
        run,
        resize: async (width, height) => {
          await switchToWindow();
          await sendOrThrow("POST", `${at}/window/rect`, { width, height });
        },
        close: async () => {
          await switchToWindow();
          await sendOrThrow("DELETE", `${at}/window`);
        },
        isOpen: async () => (await listHandles()).includes(handle),
      };
    };

    return {
      first: createWindowView(await sendOrThrow("GET", `${at}/window`)),
      count: async () => (await listHandles()).length,
      opened: async (act) => {
        const before = await listHandles();
        await act();
        return createWindowView(await waitFor("new window", async () => (await listHandles()).find((handle) => !before.includes(handle))));
      },
      newWindow: async () =>
        createWindowView((await sendOrThrow<{ handle: string }>("POST", `${at}/window/new`, { type: "window" })).handle),
      addCookie: async (name, value) => {
        await sendOrThrow("POST", `${at}/cookie`, { cookie: { name, value, httpOnly: true } });
      },
      close: async () => {
        await sendOrThrow("DELETE", at);
      },
    };
  };

  return {
    open,
    stop: () => {
      driver.kill();
      screen.kill();
    },
  };
};
