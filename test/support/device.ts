// A virtual device that stores passkeys and confirms every request.
import type { Browser, CDPSession, Page } from "playwright-core";
import { sendMarionetteCommand } from "./firefox.ts";

export interface Device {
  /** Moves the device and its passkeys to another window. */
  readonly goTo: (page: Page) => Promise<void>;
  /** Sets whether the device recognizes its user from now on. */
  readonly recognizes: (isPerson: boolean) => Promise<void>;
}

const authenticator = {
  protocol: "ctap2" as const,
  transport: "internal" as const,
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
};

/** In Chromium, each window has its own virtual authenticator, so `goTo` copies the passkeys to the new window. */
const openChromiumDevice = async (first: Page): Promise<Device> => {
  const attach = async (page: Page): Promise<{ devtools: CDPSession; authenticatorId: string }> => {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    const options = { ...authenticator, automaticPresenceSimulation: true };
    return { devtools, ...(await devtools.send("WebAuthn.addVirtualAuthenticator", { options })) };
  };
  let here = await attach(first);
  return {
    goTo: async (page) => {
      const { credentials } = await here.devtools.send("WebAuthn.getCredentials", { authenticatorId: here.authenticatorId });
      here = await attach(page);
      for (const credential of credentials)
        await here.devtools.send("WebAuthn.addCredential", { authenticatorId: here.authenticatorId, credential });
    },
    recognizes: async (isUserVerified) => {
      await here.devtools.send("WebAuthn.setUserVerified", { authenticatorId: here.authenticatorId, isUserVerified });
    },
  };
};

const latestAuthenticators = new WeakMap<Browser, string>();

/** In Firefox, all windows share the virtual authenticators, so the previous test's authenticator is removed first. */
const openFirefoxDevice = async (browser: Browser): Promise<Device> => {
  const before = latestAuthenticators.get(browser);
  if (before !== undefined) await sendMarionetteCommand(browser, "WebAuthn:RemoveVirtualAuthenticator", { authenticatorId: before });
  const added = await sendMarionetteCommand(browser, "WebAuthn:AddVirtualAuthenticator", authenticator);
  const { value: authenticatorId } = added as { readonly value: string };
  latestAuthenticators.set(browser, authenticatorId);
  return {
    goTo: async () => {},
    recognizes: async (isUserVerified) => {
      await sendMarionetteCommand(browser, "WebAuthn:SetUserVerified", { authenticatorId, isUserVerified });
    },
  };
};

export const openDevice = async (page: Page): Promise<Device> => {
  const browser = page.context().browser() as Browser;
  return browser.browserType().name() === "firefox" ? openFirefoxDevice(browser) : openChromiumDevice(page);
};
