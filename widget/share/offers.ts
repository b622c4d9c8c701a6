// The share tags of this page: where each one's button and form are, and how the page hears what became of a request.

import { announce } from "../events.ts";
import { onPage } from "../native-form.ts";
import type { ShareButton } from "./button.ts";
import type { ShareOptions } from "./options.ts";
import type { Pending } from "./pending.ts";
import type { Proof } from "./pkce.ts";

/** What an offer and its requests have in common, in this loading of the page and the next. */
export interface Asked {
  /** The options, and which one it is of several tags that say the same. */
  key: string;
  options: ShareOptions;
}

export interface Offer extends Asked {
  tag: HTMLScriptElement;
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

export function newKey(options: ShareOptions): string {
  const said = JSON.stringify(options);
  return said + offers.filter(({ key }) => key.startsWith(said)).length;
}

export function offerOf({ key }: Asked): Offer | undefined {
  return offers.find((offer) => offer.key === key);
}

/** The form that is selected; else the one around the tag, else the first of the page. */
export function formOf(asked: Asked, tag = offerOf(asked)?.tag): HTMLFormElement | undefined {
  const { formSelector } = asked.options;
  try {
    const found = formSelector === undefined ? tag?.closest("form") || onPage("form")[0] : onPage<Element>(formSelector)[0];
    return found instanceof HTMLFormElement ? found : undefined;
  } catch {
    return undefined; // a selector that is none finds no form
  }
}

/** Pages that render their forms by script may do so after the answer is there. */
export async function formWhenRendered(asked: Asked): Promise<HTMLFormElement | undefined> {
  for (let tries = 0; asked.options.formSelector !== undefined && !formOf(asked) && tries < 50; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return formOf(asked);
}

/** From the form, else from the button, so that one listener on document hears all. */
export function tell(asked: Asked, type: "svc:share" | "svc:share-error" | "svc:closed", detail: object): void {
  announce(formOf(asked) || offerOf(asked)?.button?.root || document, type, detail);
}
