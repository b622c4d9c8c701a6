// The device of a session or a passkey, as its owner would name it: families only, as in the trail of a certificate's page.
import { browserFamily, osFamily } from "../certificates/user-agent.ts";

export interface Device {
  /** Null where the browser does not say. */
  readonly os: string | null;
  readonly browser: string | null;
}

export const deviceOf = (userAgent: string | undefined): Device => ({
  os: osFamily(userAgent ?? ""),
  browser: browserFamily(userAgent ?? ""),
});

/** `Firefox, Windows`; null where neither is known. */
export const deviceName = ({ os, browser }: Device): string | null => [browser, os].filter((family) => family !== null).join(", ") || null;
