// From a click to the sheet: in a window of its own, else by links, else in this tab. Nothing here waits before it opens.

import { Misconfiguration, tellOwner } from "../misconfiguration.ts";
import { linkTo } from "./button.ts";
import { type Offer, tell } from "./offers.ts";
import { type Display, addressesOf, isFramed, requestAddress } from "./options.ts";
import { type Pending, remember } from "./pending.ts";
import { newProof } from "./pkce.ts";
import { type Waiting, drop, waitFor, waitedForBy, watch } from "./waiting.ts";

export function onClick(offer: Offer): void {
  const open = waitedForBy(offer);
  if (open?.sheet && !open.sheet.closed) open.sheet.focus();
  else if (offer.isSevered) openHere(offer);
  else openWindow(offer);
}

export async function makeProof(offer: Offer): Promise<void> {
  offer.proof = await newProof();
}

function openWindow(offer: Offer): void {
  const request = begin(offer, "popup");
  if (!request) return;
  offer.button?.note();
  request.sheet = window.open(request.address, "svc-share", "popup,width=440,height=680");
  if (request.sheet) watch(request);
  else offerLinks(offer, request);
}

function offerLinks(offer: Offer, request: Waiting): void {
  tell(offer, "svc:share-error", { code: "popup_blocked" });
  const onHere = () => {
    request.display = "page";
    remember(pendingOf(request));
    return request.address.replace("&display=popup", "&display=page");
  };
  offer.button?.links(request.address, isFramed ? undefined : onHere);
}

/** By a link, not by `location`: a link can say where it comes from on a page that sends no referrer. */
function openHere(offer: Offer): void {
  const request = begin(offer, "page");
  if (!request) return;
  const link = linkTo(request.address, "");
  link.target = "_self";
  link.click();
}

/** The request is remembered before anything opens; it supersedes what this button asked before. */
function begin(offer: Offer, display: Display): Waiting | undefined {
  const pending = offer.retry || newPending(offer, display);
  if (!pending) return undefined;
  offer.retry = undefined;
  const before = waitedForBy(offer);
  if (before) drop(before);
  remember(pendingOf(pending));
  return waitFor(pendingOf(pending));
}

function newPending(offer: Offer, display: Display): Pending | undefined {
  const { key, options, proof, scriptAddress } = offer;
  if (!proof) return undefined;
  const { state, verifier, challenge } = proof;
  try {
    const { api, sheet } = addressesOf(options, scriptAddress);
    const address = requestAddress(options, sheet, state, challenge, display);
    offer.proof = undefined;
    void makeProof(offer);
    const client_id = String(options.clientId);
    return { state, verifier, client_id, api, address, display, started: Date.now(), return_href: location.href, key, options };
  } catch (error) {
    const { message } = error as Error;
    offer.button?.note("failed");
    tell(offer, "svc:share-error", { code: "config", message });
    if (error instanceof Misconfiguration) tellOwner(message);
    return undefined;
  }
}

/** Without what only this page knows of it. */
function pendingOf({ state, verifier, client_id, api, address, display, started, return_href, key, options }: Pending): Pending {
  return { state, verifier, client_id, api, address, display, started, return_href, key, options };
}
