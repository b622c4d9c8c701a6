// Starts a service and a browser for a test file. It is separate from local-service.ts, because browser.ts imports that file.
import type { Browser } from "playwright-core";
import { afterAll } from "vitest";
import { launchBrowser } from "./browser.ts";
import { startLocalService, type LocalService } from "./local-service.ts";

/** Starts the service and a browser for all tests of a file, and stops both after the last one. */
export const startServiceAndBrowser = async (
  ...options: Parameters<typeof startLocalService>
): Promise<{ readonly service: LocalService; readonly browser: Browser }> => {
  const [service, browser] = await Promise.all([startLocalService(...options), launchBrowser()]);
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });
  return { service, browser };
};
