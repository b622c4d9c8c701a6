// Describes the device of a session or passkey by operating system and browser family, for example `Firefox, Windows`.
import { parseBrowserFamily, parseOsFamily } from "../certificates/user-agent.ts";

export interface Device {
  /** The operating system; null if the User-Agent does not contain one. */
  readonly os: string | null;
  readonly browser: string | null;
}

export const parseDevice = (userAgent: string | undefined): Device => ({
  os: parseOsFamily(userAgent ?? ""),
  browser: parseBrowserFamily(userAgent ?? ""),
});

/** Returns text such as `Firefox, Windows`, or null if neither part is known. */
export const formatDeviceName = ({ os, browser }: Device): string | null =>
  [browser, os].filter((family) => family !== null).join(", ") || null;
