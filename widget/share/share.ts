// Entry of the share part, which svc.js loads where a page asks for a share or an answer has come back to it.

import { tellOwner } from "../misconfiguration.ts";
import { newButton } from "./button.ts";
import { comeBack } from "./coming-back.ts";
import { type Identify, recogniseBy } from "./fill.ts";
import { type Offer, formOf, newKey, offers } from "./offers.ts";
import { makeProof, onClick } from "./opening.ts";
import { remembered } from "./pending.ts";
import { listenToSheets, waitFor } from "./waiting.ts";

/** On the tag, where every copy and version of the script finds it. */
const claimed = Symbol.for("svc.share");

let isStarted = false;

/** Called with the share tags there are by now; each gets one button. Fields are recognised as in consent mode, by its code. */
export function offer(tags: HTMLScriptElement[], scriptAddress: string, identify: Identify): void {
  recogniseBy(identify);
  if (!isStarted) start();
  isStarted = true;
  for (const tag of tags) if (!Reflect.has(tag, claimed)) offerBy(tag, scriptAddress);
}

function start(): void {
  const returned = comeBack();
  // This page may have been loaded again while the sheet was open.
  for (const pending of remembered().reverse()) if (pending.state !== returned) waitFor(pending);
  listenToSheets();
}

function offerBy(tag: HTMLScriptElement, scriptAddress: string): void {
  if (!crypto.subtle) {
    tellOwner("share mode needs https");
    return;
  }
  // What is not on the tag must not come from Object.prototype.
  const options = Object.assign(Object.create(null), tag.dataset);
  const made: Offer = { key: newKey(options), options, tag, scriptAddress };
  const button = newButton(tag, formOf(made, tag), () => onClick(made));
  if (!button) {
    // In the head: the form is yet to come.
    if (document.readyState !== "loading") tellOwner("there is no place for the share button");
    return;
  }
  Reflect.set(tag, claimed, true);
  made.button = button;
  offers.push(made);
  void makeProof(made);
}
