// Opens the consent sheet when the button is clicked: in a window, in this tab, or through links if the browser blocks the window. The
// window opens before anything is awaited, because browsers block windows that do not open directly in the click handler.

import { Misconfiguration, warnOwner } from "../misconfiguration.ts";
import { createLink } from "./button.ts";
import { type ShareOffer, dispatchShareEvent } from "./offers.ts";
import { type DisplayMode, resolveShareUrls, isFramed, buildRequestUrl } from "./options.ts";
import { type PendingRequest, savePending } from "./pending-requests.ts";
import { createProof } from "./pkce.ts";
import { type ActiveRequest, dropRequest, startRequest, findActiveRequest, watchSheet } from "./active-requests.ts";

export function handleShareClick(offer: ShareOffer): void {
  const open = findActiveRequest(offer);
  if (open?.sheet && !open.sheet.closed) open.sheet.focus();
  else if (offer.isSevered) openInThisTab(offer);
  else openWindow(offer);
}

export async function prepareProof(offer: ShareOffer): Promise<void> {
  offer.proof = await createProof();
}

function openWindow(offer: ShareOffer): void {
  const request = beginRequest(offer, "popup");
  if (!request) return;
  offer.button?.setNote();
  request.sheet = window.open(request.address, "svc-share", "popup,width=440,height=680");
  if (request.sheet) watchSheet(request);
  else showOpenLinks(offer, request);
}

function showOpenLinks(offer: ShareOffer, request: ActiveRequest): void {
  dispatchShareEvent(offer, "svc:share-error", { code: "popup_blocked" });
  const onHere = () => {
    request.display = "page";
    savePending(toPendingRequest(request));
    return request.address.replace("&display=popup", "&display=page");
  };
  offer.button?.showLinks(request.address, isFramed ? undefined : onHere);
}

/**
 * Opens the sheet in this tab. Clicks a link instead of setting `location`, because a link can send a referrer on a page that otherwise
 * sends none.
 */
function openInThisTab(offer: ShareOffer): void {
  const request = beginRequest(offer, "page");
  if (!request) return;
  const link = createLink(request.address, "");
  link.target = "_self";
  link.click();
}

/** Saves the request before anything opens. Drops the button's earlier request. */
function beginRequest(offer: ShareOffer, display: DisplayMode): ActiveRequest | undefined {
  const pending = offer.retry || createPendingRequest(offer, display);
  if (!pending) return undefined;
  offer.retry = undefined;
  const earlier = findActiveRequest(offer);
  if (earlier) dropRequest(earlier);
  savePending(toPendingRequest(pending));
  return startRequest(toPendingRequest(pending));
}

function createPendingRequest(offer: ShareOffer, display: DisplayMode): PendingRequest | undefined {
  const { key, options, proof, scriptUrl } = offer;
  if (!proof) return undefined;
  const { state, verifier, challenge } = proof;
  try {
    const { api, sheet } = resolveShareUrls(options, scriptUrl);
    const address = buildRequestUrl(options, sheet, state, challenge, display);
    offer.proof = undefined;
    void prepareProof(offer);
    const client_id = String(options.clientId);
    return { state, verifier, client_id, api, address, display, started: Date.now(), return_href: location.href, key, options };
  } catch (error) {
    const { message } = error as Error;
    offer.button?.setNote("failed");
    dispatchShareEvent(offer, "svc:share-error", { code: "config", message });
    if (error instanceof Misconfiguration) warnOwner(message);
    return undefined;
  }
}

/** Returns a copy with only the properties that are stored. */
function toPendingRequest({
  state,
  verifier,
  client_id,
  api,
  address,
  display,
  started,
  return_href,
  key,
  options,
}: PendingRequest): PendingRequest {
  return { state, verifier, client_id, api, address, display, started, return_href, key, options };
}
