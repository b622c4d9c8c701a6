import { verifyOrigin, getOriginRules } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { Runtime } from "../dependencies.ts";
import { toTokenBinding, type AuthorizedRequest } from "./authorize-share-request.ts";
import type { SheetBrowser } from "./sheet-browser.ts";

/** A request on the sheet: what is asked, and how the answer may go back. */
export interface SheetRequest {
  readonly request: AuthorizedRequest;
  /** The address of the page, exactly on the bound origin; null where there is none that may be used. */
  readonly returnUrl: string | null;
  /** Of all parameters: the same request, however often it is loaded. */
  readonly key: string;
}

/** Exactly the bound origin, and no way around it: the answer goes nowhere else. */
const parseReturnUrl = (services: Runtime, { client, origin }: AuthorizedRequest, returnUrl: string | undefined): string | null => {
  if (returnUrl === undefined || !URL.canParse(returnUrl)) return null;
  const url = new URL(returnUrl);
  if (url.origin !== origin || url.username !== "" || url.password !== "" || url.hash !== "") return null;
  return verifyOrigin(url.origin, client.domains, getOriginRules(services.config, client)).ok ? url.href : null;
};

export const createSheetRequest = (services: Runtime, request: AuthorizedRequest, returnUrl: string | undefined): SheetRequest => {
  const { clientId } = request.client;
  const parts = { ...toTokenBinding({ ...request, clientId }), scope: [...request.asked.scope], needed: [...request.asked.needed] };
  const back = parseReturnUrl(services, request, returnUrl);
  return { request, returnUrl: back, key: sha256Hex(toCanonicalJson({ ...parts, return_url: back })) };
};

/** Whether the answer may go back by redirect: the browser brought the request from that page, or the business registered the address. */
export const canRedirect = ({ request, returnUrl, key }: SheetRequest, browser: SheetBrowser): boolean =>
  returnUrl !== null && (browser.seenRequests.includes(key) || request.client.returnUrls.includes(returnUrl));

/** What the browser says of where it comes from: a page of the bound origin, which a link elsewhere cannot claim. */
export const isFromBoundOrigin = ({ request }: SheetRequest, referer: string | undefined): boolean =>
  referer !== undefined && URL.canParse(referer) && new URL(referer).origin === request.origin;
