// Entry of the share part, which svc.js loads where a page asks for a share or an answer has come back to it.

import { warnOwner } from "../misconfiguration.ts";
import { createShareButton } from "./button.ts";
import { handleRedirectReturn } from "./redirect-return.ts";
import { type ControlIdentifier, setControlIdentifier } from "./fill-form.ts";
import { type ShareOffer, findForm, createOfferKey, offers } from "./offers.ts";
import { prepareProof, handleShareClick } from "./open-sheet.ts";
import { listPending } from "./pending-requests.ts";
import { listenForSheetMessages, startRequest } from "./active-requests.ts";

/** On the tag, where every copy and version of the script finds it. */
const claimedSymbol = Symbol.for("svc.share");

let isStarted = false;

/** Called with the share tags there are by now; each gets one button. Fields are recognised as in consent mode, by its code. */
export function addShareButtons(tags: HTMLScriptElement[], scriptAddress: string, identify: ControlIdentifier): void {
  setControlIdentifier(identify);
  if (!isStarted) startShare();
  isStarted = true;
  for (const tag of tags) if (!Reflect.has(tag, claimedSymbol)) addShareButton(tag, scriptAddress);
}

function startShare(): void {
  const returned = handleRedirectReturn();
  // This page may have been loaded again while the sheet was open.
  for (const pending of listPending().reverse()) if (pending.state !== returned) startRequest(pending);
  listenForSheetMessages();
}

function addShareButton(tag: HTMLScriptElement, scriptAddress: string): void {
  if (!crypto.subtle) {
    warnOwner("share mode needs https");
    return;
  }
  // What is not on the tag must not come from Object.prototype.
  const options = Object.assign(Object.create(null), tag.dataset);
  const made: ShareOffer = { key: createOfferKey(options), options, tag, scriptUrl: scriptAddress };
  const button = createShareButton(tag, findForm(made, tag), () => handleShareClick(made));
  if (!button) {
    // In the head: the form is yet to come.
    if (document.readyState !== "loading") warnOwner("there is no place for the share button");
    return;
  }
  Reflect.set(tag, claimedSymbol, true);
  made.button = button;
  offers.push(made);
  void prepareProof(made);
}
