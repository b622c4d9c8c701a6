// The device of a session or a passkey, as its owner would name it: families only, as in the trail of a certificate's page.
import { parseBrowserFamily, parseOsFamily } from "../certificates/user-agent.ts";

export interface Device {
  /** Null where the browser does not say. */
  readonly os: string | null;
  readonly browser: string | null;
}

export const parseDevice = (userAgent: string | undefined): Device => ({
  os: parseOsFamily(userAgent ?? ""),
  browser: parseBrowserFamily(userAgent ?? ""),
});

/** `Firefox, Windows`; null where neither is known. */
export const formatDeviceName = ({ os, browser }: Device): string | null =>
  [browser, os].filter((family) => family !== null).join(", ") || null;
