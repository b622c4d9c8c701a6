// The share button, its status note, and the links shown if the browser blocks the window. The elements have no styles of their own. They
// look like the page's buttons and links, and need no permission for styles in the page's Content Security Policy.

import { getShareMessages } from "./messages.ts";

export const buttonClassName = "svc-share";

export interface ShareButton {
  root: HTMLElement;
  setLabel(text: "share" | "severed"): void;
  setNote(text?: "busy" | "done" | "elsewhere" | "closed" | "failed"): void;
  /**
   * Shows links after the browser blocked the window: one that opens the sheet in a new tab and, if `onHere` is given, one that opens it in
   * this tab.
   */
  showLinks(address: string, onHere: (() => string) | undefined): void;
}

/**
 * Inserts the button after the tag or, if the tag is not in the body, at the start of the form. Returns null if there is no form either.
 */
export function createShareButton(tag: HTMLScriptElement, form: HTMLFormElement | undefined, onClick: () => void): ShareButton | null {
  const isPlaced = document.body?.contains(tag);
  const place = isPlaced ? tag : form;
  if (!place) return null;
  const messages = getShareMessages(place);

  const root = document.createElement("div");
  root.className = buttonClassName;
  root.lang = messages.lang;
  const button = document.createElement("button");
  button.type = "button";
  button.addEventListener("click", ({ detail }) => {
    // The second click of a double click has `detail` 2 and is ignored.
    if (detail < 2) onClick();
  });
  const note = document.createElement("div");
  note.setAttribute("role", "status");
  const links = document.createElement("div");
  root.append(button, note, links);

  const self: ShareButton = {
    root,
    setLabel(text) {
      button.textContent = messages[text];
    },
    setNote(text) {
      note.textContent = text ? messages[text] : "";
      links.textContent = "";
      button.setAttribute("aria-busy", String(text === "busy"));
    },
    showLinks(address, onHere) {
      self.setNote();
      note.textContent = messages.blocked;
      links.append(createLink(address, messages.newTab));
      if (!onHere) return;
      const sameTabLink = createLink(address, messages.here);
      sameTabLink.target = "_self";
      sameTabLink.addEventListener("click", () => {
        sameTabLink.href = onHere();
      });
      links.append(" ", sameTabLink);
    },
  };
  self.setLabel("share");
  if (isPlaced) tag.after(root);
  else place.prepend(root);
  return self;
}

/**
 * Creates a link that sends the page's origin as the referrer, even on a page that otherwise sends none. A sheet without an opener needs
 * the referrer, because it redirects only to a page that the referrer confirms. `rel=opener` lets the new tab send messages to this page.
 */
export function createLink(address: string, text: string): HTMLAnchorElement {
  const link = document.createElement("a");
  link.href = address;
  link.target = "_blank";
  link.rel = "opener";
  link.referrerPolicy = "origin";
  link.textContent = text;
  return link;
}
