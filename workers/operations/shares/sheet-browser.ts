// The signed cookie that identifies a browser on the consent sheet.
import { toBase64Url, encodeUtf8, fromBase64Url } from "../../../core/bytes.ts";
import { isEqualConstantTime } from "../../../core/hash.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";

/** A browser, with the keys of requests that verifiably came from the origin that they state. */
export interface SheetBrowser {
  readonly id: string;
  readonly seenRequests: readonly string[];
}

const maxSeenRequests = 5;

const computeBrowserMac = ({ vault }: Stores, payload: string): Promise<string> => vault.linkToken(`sheet browser\n${payload}`);

/** Serializes the cookie. Keeps the five newest requests. */
export const serializeSheetBrowser = async (services: Stores, browser: SheetBrowser): Promise<string> => {
  const payload = toBase64Url(encodeUtf8(JSON.stringify([browser.id, ...browser.seenRequests.slice(-maxSeenRequests)])));
  return `${payload}.${await computeBrowserMac(services, payload)}`;
};

/** Parses the cookie. Returns a new browser if the cookie is missing or not signed by this service. */
export const parseSheetBrowser = async (services: ReadDependencies, cookie: string | undefined): Promise<SheetBrowser> => {
  const [payload = "", mac = ""] = (cookie ?? "").split(".");
  const bytes = fromBase64Url(payload);
  if (payload === "" || bytes === null || !isEqualConstantTime(mac, await computeBrowserMac(services, payload)))
    return { id: toBase64Url(services.random(16)), seenRequests: [] };
  const [id, ...seen] = JSON.parse(new TextDecoder().decode(bytes)) as [string, ...string[]];
  return { id, seenRequests: seen };
};
