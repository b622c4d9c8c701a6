// Entry point of the share part. svc.js loads it when the page has a share tag, or when its URL contains a response from the sheet.

import { warnOwner } from "../misconfiguration.ts";
import { buttonClassName, createShareButton } from "./button.ts";
import { handleRedirectReturn } from "./redirect-return.ts";
import { type ControlIdentifier, setControlIdentifier } from "./fill-form.ts";
import { type ShareOffer, findForm, createOfferKey, offers } from "./offers.ts";
import { prepareProof, handleShareClick } from "./open-sheet.ts";
import { listPending } from "./pending-requests.ts";
import { listenForSheetMessages, startRequest } from "./active-requests.ts";

/** Set on a tag that already has its button, so that other copies and versions of the script skip the tag. Also set on the button. */
const claimedSymbol = Symbol.for("svc.share");

let isStarted = false;

/** Adds a button to each tag that has none yet. `identify` is the function that consent mode uses to recognize fields. */
export function addShareButtons(tags: HTMLScriptElement[], scriptAddress: string, identify: ControlIdentifier): void {
  setControlIdentifier(identify);
  if (!isStarted) startShare();
  isStarted = true;
  for (const tag of tags) if (!Reflect.has(tag, claimedSymbol)) addShareButton(tag, scriptAddress);
}

function startShare(): void {
  const returned = handleRedirectReturn();
  // The sheet may still be open for requests that were started before the page was reloaded.
  for (const pending of listPending().reverse()) if (pending.state !== returned) startRequest(pending);
  listenForSheetMessages();
}

function addShareButton(tag: HTMLScriptElement, scriptAddress: string): void {
  if (!crypto.subtle) {
    warnOwner("share mode needs https: serve this page over https");
    return;
  }
  // The null prototype protects the options from a polluted Object.prototype.
  const options = Object.assign(Object.create(null), tag.dataset);
  // If the page is a copy, such as the one that Turbo shows after the Back button, it contains a copy of the button that does nothing.
  const next = tag.nextElementSibling;
  if (next?.className === buttonClassName && !Reflect.has(next, claimedSymbol)) next.remove();
  const offer: ShareOffer = { key: createOfferKey(options), options, tag, scriptUrl: scriptAddress };
  const button = createShareButton(tag, findForm(offer, tag), () => handleShareClick(offer));
  if (!button) {
    // While the page is loading, the form for a tag in the head may not exist yet.
    if (document.readyState !== "loading") warnOwner("the share button has no place: move the script tag into the body");
    return;
  }
  for (const claimed of [tag, button.root]) Reflect.set(claimed, claimedSymbol, true);
  offer.button = button;
  offers.push(offer);
  void prepareProof(offer);
}
