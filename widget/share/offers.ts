// The share tags of this page: where each one's button and form are, and how the page hears what became of a request.

import { announce } from "../events.ts";
import { onPage } from "../native-form.ts";
import type { ShareButton } from "./button.ts";
import type { ShareOptions } from "./options.ts";
import type { Pending } from "./pending.ts";
import type { Proof } from "./pkce.ts";

export interface Offer {
  tag: HTMLScriptElement;
  options: ShareOptions;
  scriptAddress: string;
  button?: ShareButton;
  /** For the next request. */
  proof?: Proof | undefined;
  /** A request whose answer came too late: asked again as it was, it is the same decision, not a second share. */
  retry?: Pending | undefined;
  /** The window that opened is cut off from this page, or closed; nobody can tell which. */
  isSevered?: boolean;
}

export const offers: Offer[] = [];

/** Which offer a request belongs to, in this loading of the page or an earlier one. */
export function keyOf(options: ShareOptions): string {
  return JSON.stringify(options);
}

export function offerOf(options: ShareOptions): Offer | undefined {
  return offers.find((offer) => keyOf(offer.options) === keyOf(options));
}

/** The form that is selected; else the one around the tag, else the first of the page. */
export function formOf(options: ShareOptions, tag = offerOf(options)?.tag): HTMLFormElement | undefined {
  const { formSelector } = options;
  try {
    const found = formSelector === undefined ? tag?.closest("form") || onPage("form")[0] : onPage<Element>(formSelector)[0];
    return found instanceof HTMLFormElement ? found : undefined;
  } catch {
    return undefined; // a selector that is none finds no form
  }
}

/** Pages that draw their forms by script may do so after the answer is there. */
export async function formWhenDrawn(options: ShareOptions): Promise<HTMLFormElement | undefined> {
  for (let tries = 0; options.formSelector !== undefined && !formOf(options) && tries < 50; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return formOf(options);
}

/** From the form, else from the button, so that one listener on document hears all. */
export function tell(options: ShareOptions, type: "svc:share" | "svc:share-error" | "svc:closed", detail: object): void {
  announce(formOf(options) || offerOf(options)?.button?.root || document, type, detail);
}
