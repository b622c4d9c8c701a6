// The consent sheet's own knowledge of a request: which browser it came to, whether it demonstrably came from the page it names, and
// the token that holds a decision to what was shown. Nothing is stored for a request: a signed cookie and the token carry it.
import { base64UrlOf, bytesOfBase64Url, utf8 } from "../../../core/bytes.ts";
import { canonicalJson } from "../../../core/canonical-json.ts";
import { isSameSecret, sha256Hex } from "../../../core/hash.ts";
import { homeOfId } from "../../../core/ids.ts";
import { rulesFor, verifyOrigin } from "../../../core/access/origins.ts";
import type { Runtime, Stores } from "../../services.ts";
import { bindingOf, isExpired, makeToken, readToken, type AuthorizedRequest, type TokenBinding } from "./authorize.ts";

/** A browser, and the requests that it was seen to bring from the page they name. */
export interface SheetBrowser {
  readonly id: string;
  readonly seen: readonly string[];
}

const maxSeen = 5;

const macOf = ({ vault }: Stores, payload: string): Promise<string> => vault.linkToken(`sheet browser\n${payload}`);

export const browserText = async (services: Stores, browser: SheetBrowser): Promise<string> => {
  const payload = base64UrlOf(utf8(JSON.stringify([browser.id, ...browser.seen.slice(-maxSeen)])));
  return `${payload}.${await macOf(services, payload)}`;
};

/** One that nobody has seen, where the cookie is absent or none of ours. */
export const browserOf = async (services: Runtime & Stores, cookie: string | undefined): Promise<SheetBrowser> => {
  const [payload = "", mac = ""] = (cookie ?? "").split(".");
  const bytes = bytesOfBase64Url(payload);
  if (payload === "" || bytes === null || !isSameSecret(mac, await macOf(services, payload)))
    return { id: base64UrlOf(services.random(16)), seen: [] };
  const [id, ...seen] = JSON.parse(new TextDecoder().decode(bytes)) as [string, ...string[]];
  return { id, seen };
};

/** A request on the sheet: what is asked, and how the answer may go back. */
export interface SheetRequest {
  readonly request: AuthorizedRequest;
  /** The address of the page, exactly on the bound origin; null where there is none that may be used. */
  readonly returnUrl: string | null;
  /** Of all parameters: the same request, however often it is loaded. */
  readonly key: string;
}

/** Exactly the bound origin, and no way around it: the answer goes nowhere else. */
const returnUrlOf = (services: Runtime, { client, origin }: AuthorizedRequest, returnUrl: string | undefined): string | null => {
  if (returnUrl === undefined || !URL.canParse(returnUrl)) return null;
  const url = new URL(returnUrl);
  if (url.origin !== origin || url.username !== "" || url.password !== "" || url.hash !== "") return null;
  return verifyOrigin(url.origin, client.domains, rulesFor(services.config, client)).ok ? url.href : null;
};

export const sheetRequestOf = (services: Runtime, request: AuthorizedRequest, returnUrl: string | undefined): SheetRequest => {
  const { clientId } = request.client;
  const parts = { ...bindingOf({ ...request, clientId }), scope: [...request.asked.scope], needed: [...request.asked.needed] };
  const back = returnUrlOf(services, request, returnUrl);
  return { request, returnUrl: back, key: sha256Hex(canonicalJson({ ...parts, return_url: back })) };
};

/** Whether the answer may go back by redirect: the browser brought the request from that page, or the business registered the address. */
export const mayRedirect = ({ request, returnUrl, key }: SheetRequest, browser: SheetBrowser): boolean =>
  returnUrl !== null && (browser.seen.includes(key) || request.client.returnUrls.includes(returnUrl));

/** What the browser says of where it comes from: a page of the bound origin, which a link elsewhere cannot claim. */
export const cameFromOrigin = ({ request }: SheetRequest, referer: string | undefined): boolean =>
  referer !== undefined && URL.canParse(referer) && new URL(referer).origin === request.origin;

const sheetBinding = ({ request, key }: SheetRequest, browser: SheetBrowser, personId: string | null): TokenBinding => ({
  ...bindingOf({ ...request, clientId: request.client.clientId }),
  request: key,
  browser: browser.id,
  person: personId,
});

export const sheetToken = (
  services: Runtime & Stores,
  sheet: SheetRequest,
  browser: SheetBrowser,
  personId: string | null,
): Promise<string> => {
  const content = { asked: sheet.request.asked, at: services.clock(), hasEvidence: mayRedirect(sheet, browser) };
  return makeToken(services, homeOfId(sheet.request.client.clientId), content, sheetBinding(sheet, browser, personId));
};

/** `foreign`: not made for this request, browser and person. */
export const judgeSheetToken = async (
  services: Runtime & Stores,
  sheet: SheetRequest,
  browser: SheetBrowser,
  personId: string | null,
  token: string,
): Promise<"good" | "expired" | "foreign"> => {
  const content = await readToken(services, token, sheetBinding(sheet, browser, personId));
  if (content === null) return "foreign";
  return isExpired(content, services.clock()) ? "expired" : "good";
};
