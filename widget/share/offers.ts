// The share offers on this page. There is one for each share tag, with its button, form and events.

import { dispatchSvcEvent } from "../events.ts";
import { queryPage } from "../native-form.ts";
import type { ShareButton } from "./button.ts";
import type { ShareOptions, ShareRequestBase } from "./options.ts";
import type { PendingRequest } from "./pending-requests.ts";
import type { PkceProof } from "./pkce.ts";

export interface ShareOffer extends ShareRequestBase {
  tag: HTMLScriptElement;
  scriptUrl: string;
  button?: ShareButton;
  /** The state and PKCE pair for the next request. */
  proof?: PkceProof | undefined;
  /** A request whose code expired. If it is opened again, the person's earlier decision applies, and no second share is created. */
  retry?: PendingRequest | undefined;
  /**
   * True if the window was closed or disconnected from this page before the sheet could send a message to this page. The page cannot tell
   * which of the two happened.
   */
  isSevered?: boolean;
}

export const offers: ShareOffer[] = [];

export function createOfferKey(options: ShareOptions): string {
  const optionsJson = JSON.stringify(options);
  return optionsJson + offers.filter(({ key }) => key.startsWith(optionsJson)).length;
}

export function findOffer({ key }: ShareRequestBase): ShareOffer | undefined {
  return offers.find((offer) => offer.key === key);
}

/**
 * Returns the form that `formSelector` matches. Without a selector, returns the form around the tag or, if there is none, the page's first
 * form.
 */
export function findForm(request: ShareRequestBase, tag = findOffer(request)?.tag): HTMLFormElement | undefined {
  const { formSelector } = request.options;
  try {
    const found = formSelector === undefined ? tag?.closest("form") || queryPage("form")[0] : queryPage<Element>(formSelector)[0];
    return found instanceof HTMLFormElement ? found : undefined;
  } catch {
    return undefined; // the selector is invalid
  }
}

/** Finds the form. If `formSelector` is set, waits up to 5 seconds for the form, because the page may still have to render it. */
export async function waitForForm(request: ShareRequestBase): Promise<HTMLFormElement | undefined> {
  for (let attempt = 0; request.options.formSelector !== undefined && !findForm(request) && attempt < 50; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return findForm(request);
}

/**
 * Dispatches the event from the form or, if there is none, from the button or document, so that one listener on document receives all
 * events.
 */
export function dispatchShareEvent(request: ShareRequestBase, type: "svc:share" | "svc:share-error" | "svc:closed", detail: object): void {
  dispatchSvcEvent(findForm(request) || findOffer(request)?.button?.root || document, type, detail);
}
