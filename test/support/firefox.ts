// Firefox for the matrix of browsers: playwright-core drives it by WebDriver BiDi, which knows no device with passkeys. That one
// is asked for over Marionette, Firefox's own protocol, on a port beside.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { firefox, type Browser, type LaunchOptions } from "playwright-core";
import { firefoxPath } from "../../scripts/browser.ts";
import { findFreePort } from "./local-service.ts";

/** What playwright-core has behind a browser of its own process. */
interface BrowserInternals {
  readonly _connection: {
    toImpl(browser: unknown): { readonly _browserSession: { send: (method: string, params: object) => Promise<unknown> } };
  };
}

/** playwright-core emulates light and dark in every context by a command that Firefox ESR 153 does not have yet. */
const withoutMediaFeatures = (browser: Browser): void => {
  const inside = browser as unknown as BrowserInternals;
  const session = inside._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, params) => (method === "emulation.setMediaFeaturesOverride" ? {} : send(method, params));
};

/** Firefox closes when somebody who spoke Marionette hangs up, so one line is held as long as it runs. */
const marionetteSockets = new WeakMap<Browser, Socket>();

export const launchFirefox = async (options: LaunchOptions): Promise<Browser> => {
  const port = await findFreePort();
  const browser = await firefox.launch({
    channel: "moz-firefox",
    executablePath: firefoxPath,
    args: ["--marionette"],
    firefoxUserPrefs: {
      "marionette.port": port,
      "security.webauth.webauthn_enable_softtoken": true,
      "security.webauth.webauthn_enable_usbtoken": false,
    },
    ...options,
  });
  withoutMediaFeatures(browser);
  const line = connect(port, "127.0.0.1").setEncoding("utf8").unref();
  await once(line, "data"); // its greeting
  marionetteSockets.set(browser, line);
  return browser;
};

/** One command of Marionette, one at a time; a message is `length:[kind, number, ...]`. */
export const sendMarionetteCommand = async (browser: Browser, name: string, params: object): Promise<unknown> => {
  const line = marionetteSockets.get(browser) as Socket;
  const command = JSON.stringify([0, 1, name, params]);
  line.write(`${Buffer.byteLength(command)}:${command}`);
  let heard = "";
  for (;;) {
    heard += (await once(line, "data"))[0];
    const [, length, answer] = /^(\d+):(.*)$/s.exec(heard) ?? [];
    if (answer === undefined || Buffer.byteLength(answer) < Number(length)) continue;
    const [, , error, value] = JSON.parse(answer) as [number, number, { message: string } | null, unknown];
    if (error !== null) throw new Error(`${name}: ${error.message}`);
    return value;
  }
};
