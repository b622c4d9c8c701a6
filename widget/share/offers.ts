// The share tags of this page: where each one's button and form are, and how the page hears what became of a request.

import { dispatchSvcEvent } from "../events.ts";
import { queryPage } from "../native-form.ts";
import type { ShareButton } from "./button.ts";
import type { ShareOptions } from "./options.ts";
import type { PendingRequest } from "./pending-requests.ts";
import type { PkceProof } from "./pkce.ts";

/** What an offer and its requests have in common, in this loading of the page and the next. */
export interface ShareRequestBase {
  /** The options, and which one it is of several tags that say the same. */
  key: string;
  options: ShareOptions;
}

export interface ShareOffer extends ShareRequestBase {
  tag: HTMLScriptElement;
  scriptUrl: string;
  button?: ShareButton;
  /** For the next request. */
  proof?: PkceProof | undefined;
  /** A request whose answer came too late: asked again as it was, it is the same decision, not a second share. */
  retry?: PendingRequest | undefined;
  /** The window that opened is cut off from this page, or closed; nobody can tell which. */
  isSevered?: boolean;
}

export const offers: ShareOffer[] = [];

export function createOfferKey(options: ShareOptions): string {
  const said = JSON.stringify(options);
  return said + offers.filter(({ key }) => key.startsWith(said)).length;
}

export function findOffer({ key }: ShareRequestBase): ShareOffer | undefined {
  return offers.find((offer) => offer.key === key);
}

/** The form that is selected; else the one around the tag, else the first of the page. */
export function findForm(asked: ShareRequestBase, tag = findOffer(asked)?.tag): HTMLFormElement | undefined {
  const { formSelector } = asked.options;
  try {
    const found = formSelector === undefined ? tag?.closest("form") || queryPage("form")[0] : queryPage<Element>(formSelector)[0];
    return found instanceof HTMLFormElement ? found : undefined;
  } catch {
    return undefined; // a selector that is none finds no form
  }
}

/** Pages that render their forms by script may do so after the answer is there. */
export async function waitForForm(asked: ShareRequestBase): Promise<HTMLFormElement | undefined> {
  for (let tries = 0; asked.options.formSelector !== undefined && !findForm(asked) && tries < 50; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return findForm(asked);
}

/** From the form, else from the button, so that one listener on document hears all. */
export function dispatchShareEvent(asked: ShareRequestBase, type: "svc:share" | "svc:share-error" | "svc:closed", detail: object): void {
  dispatchSvcEvent(findForm(asked) || findOffer(asked)?.button?.root || document, type, detail);
}
