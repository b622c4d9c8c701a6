// Describes a share request on the consent sheet, the evidence that the business sent it, and whether the decision may be returned by
// redirect.
import { verifyOrigin, getOriginRules } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { RequestEvidence } from "../../../core/shares/request-evidence.ts";
import type { Runtime } from "../dependencies.ts";
import { toTokenBinding, type AuthorizedRequest } from "./authorize-share-request.ts";
import { findArrivalEvidence, type SheetBrowser } from "./sheet-browser.ts";

export interface SheetRequest {
  readonly request: AuthorizedRequest;
  /** The URL for returning the decision, on the request's origin; null if it is missing or not allowed. */
  readonly returnUrl: string | null;
  /** A hash of all parameters. It stays the same when the request is loaded again. */
  readonly key: string;
}

/**
 * Parses a return URL. Returns null if the URL is missing or invalid, if it contains credentials or a fragment, or if it is on another
 * origin, which must not get the code.
 */
const parseReturnUrl = (services: Runtime, { client, origin }: AuthorizedRequest, returnUrl: string | undefined): string | null => {
  if (returnUrl === undefined || !URL.canParse(returnUrl)) return null;
  const url = new URL(returnUrl);
  if (url.origin !== origin || url.username !== "" || url.password !== "" || url.hash !== "") return null;
  return verifyOrigin(url.origin, client.domains, getOriginRules(services.config, client)).ok ? url.href : null;
};

/**
 * Creates the sheet's request. Ignores a return URL that is not allowed, because the decision can still be sent to the window that opened
 * the sheet.
 */
export const createSheetRequest = (services: Runtime, request: AuthorizedRequest, returnUrl: string | undefined): SheetRequest => {
  const { clientId } = request.client;
  const parts = {
    ...toTokenBinding({ ...request, clientId }),
    scope: [...request.requestedScope.scope],
    needed: [...request.requestedScope.needed],
  };
  const verifiedReturnUrl = parseReturnUrl(services, request, returnUrl);
  return { request, returnUrl: verifiedReturnUrl, key: sha256Hex(toCanonicalJson({ ...parts, return_url: verifiedReturnUrl })) };
};

/**
 * Returns the strongest evidence that the business sent the request, or null if there is none. Anyone can create a link with the business's
 * client ID, a purpose and a disclosure. Without evidence, the sheet therefore neither offers nor accepts a decision.
 */
export const getRequestEvidence = ({ request, returnUrl, key }: SheetRequest, browser: SheetBrowser): RequestEvidence | null => {
  const arrival = findArrivalEvidence(browser, key);
  if (arrival === "request_signature") return arrival;
  return returnUrl !== null && request.client.returnUrls.includes(returnUrl) ? "return_url" : arrival;
};

/**
 * Returns true if the decision may be returned by redirect. There must be a return URL, and evidence other than `message`, which is a reply
 * to a message from the sheet. Such a reply proves only that the page that opened the sheet made the request, so the result is sent to that
 * page instead.
 */
export const canRedirect = (sheet: SheetRequest, browser: SheetBrowser): boolean => {
  const evidence = getRequestEvidence(sheet, browser);
  return sheet.returnUrl !== null && evidence !== null && evidence !== "message";
};

/** Returns true if the browser's referrer is a page on the request's origin. A link on another site cannot fake the referrer. */
export const isFromBoundOrigin = ({ request }: SheetRequest, referer: string | undefined): boolean =>
  referer !== undefined && URL.canParse(referer) && new URL(referer).origin === request.origin;
