// Firefox for the cross-browser tests. playwright-core drives it through WebDriver BiDi, which does not support virtual authenticators.
// This file creates them through Marionette, Firefox's own protocol, on a second port.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { firefox, type Browser, type LaunchOptions } from "playwright-core";
import { firefoxPath } from "../../scripts/browser.ts";
import { findFreePort } from "./local-service.ts";

/** The parts of playwright-core's internal browser object that this file uses. */
interface BrowserInternals {
  readonly _connection: {
    toImpl(browser: unknown): { readonly _browserSession: { send: (method: string, params: object) => Promise<unknown> } };
  };
}

/** Ignores the playwright-core command that emulates color schemes, because Firefox ESR 153 does not support it yet. */
const withoutMediaFeatures = (browser: Browser): void => {
  const internals = browser as unknown as BrowserInternals;
  const session = internals._connection.toImpl(browser)._browserSession;
  const send = session.send.bind(session);
  session.send = async (method, params) => (method === "emulation.setMediaFeaturesOverride" ? {} : send(method, params));
};

/** Firefox quits when a Marionette connection closes, so one socket stays open as long as the browser runs. */
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
  const socket = connect(port, "127.0.0.1").setEncoding("utf8").unref();
  await once(socket, "data"); // the server's greeting
  marionetteSockets.set(browser, socket);
  return browser;
};

/**
 * Sends a Marionette command and returns its result. Callers must wait for the result before they send another. A message is `length:[kind,
 * number, ...]`.
 */
export const sendMarionetteCommand = async (browser: Browser, name: string, params: object): Promise<unknown> => {
  const socket = marionetteSockets.get(browser) as Socket;
  const command = JSON.stringify([0, 1, name, params]);
  socket.write(`${Buffer.byteLength(command)}:${command}`);
  let received = "";
  for (;;) {
    received += (await once(socket, "data"))[0];
    const [, length, message] = /^(\d+):(.*)$/s.exec(received) ?? [];
    if (message === undefined || Buffer.byteLength(message) < Number(length)) continue;
    const [, , error, value] = JSON.parse(message) as [number, number, { message: string } | null, unknown];
    if (error !== null) throw new Error(`${name}: ${error.message}`);
    return value;
  }
};
