// Tests passkeys in a real browser with Chromium's virtual authenticator, to check that the service accepts what browsers actually send.
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { addVirtualAuthenticator, openPage } from "../support/browser.ts";
import { startServiceAndBrowser } from "../support/service-and-browser.ts";
import { findNewestCode } from "../support/email-code.ts";

const { service, browser } = await startServiceAndBrowser({ DEV_RATE_SCALE: "1000" });

interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes
  readonly data: any;
}

/** Sends a request from the app's own page, with its cookie. */
const sendRequest = (page: Page, method: string, path: string, body?: object): Promise<Answered> =>
  page.evaluate(
    async ([how, where, text]) => {
      const sent = text === "" ? {} : { body: text, headers: { "content-type": "application/json" } };
      const response = await fetch(where, { method: how, ...sent });
      return { status: response.status, data: ((await response.json()) as { data: unknown }).data };
    },
    [method, path, body === undefined ? "" : JSON.stringify(body)] as const,
  );

/** Creates a credential on the virtual authenticator with the service's options, and returns it as the browser serializes it. */
const createCredential = (page: Page, options: object): Promise<object> =>
  page.evaluate(async (json) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json as PublicKeyCredentialCreationOptionsJSON);
    return ((await navigator.credentials.create({ publicKey })) as PublicKeyCredential).toJSON() as object;
  }, options);
const signChallenge = (page: Page, options: object): Promise<object> =>
  page.evaluate(async (json) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON);
    return ((await navigator.credentials.get({ publicKey })) as PublicKeyCredential).toJSON() as object;
  }, options);

const findCode = async (email: string): Promise<string> => {
  const { messages } = (await (await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`)).json()) as {
    messages: { text: string }[];
  };
  return findNewestCode(messages) ?? "";
};

test("a passkey added by a signed-in person signs them in later without an email address", async () => {
  const email = "passkey.person@example.com";
  // Bypasses the Content Security Policy, because it would block the test's requests.
  const { page, close } = await openPage(browser, { bypassCSP: true });
  await addVirtualAuthenticator(page);
  await page.goto(`${service.origin}/docs`);

  await sendRequest(page, "POST", "/v1/auth/request-code", { email, realm: "consumer" });
  expect((await sendRequest(page, "POST", "/v1/auth/verify-code", { email, realm: "consumer", code: await findCode(email) })).status).toBe(
    200,
  );
  const { options } = (await sendRequest(page, "POST", "/v1/me/passkeys/options")).data;
  const added = await sendRequest(page, "POST", "/v1/me/passkeys", { credential: await createCredential(page, options) });
  expect([added.status, added.data.name]).toEqual([201, expect.stringMatching(/^Chrome, /)]);
  await expect(createCredential(page, (await sendRequest(page, "POST", "/v1/me/passkeys/options")).data.options)).rejects.toThrow(
    /InvalidStateError/,
  ); // the device already has a passkey for this account

  await sendRequest(page, "POST", "/v1/auth/logout");
  expect((await sendRequest(page, "GET", "/v1/auth/session")).status).toBe(401);
  const signIn = async (): Promise<Answered> => {
    const options = await sendRequest(page, "POST", "/v1/auth/passkey/options");
    return sendRequest(page, "POST", "/v1/auth/passkey/verify", { credential: await signChallenge(page, options.data.options) });
  };
  for (let times = 0; times < 2; times += 1) expect((await signIn()).status).toBe(200);
  expect((await sendRequest(page, "GET", "/v1/auth/session")).data.email).toBe(email);
  expect((await sendRequest(page, "GET", "/v1/me/sessions")).data.sessions).toHaveLength(1);

  await sendRequest(page, "DELETE", `/v1/me/passkeys/${added.data.id}`);
  expect((await signIn()).status).toBe(400);
  await close();
});
