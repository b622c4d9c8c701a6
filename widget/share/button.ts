// The button and what stands beside it: a note that screen readers speak, and links where the browser opens no window.
// Elements without a style: the page's own rules for buttons and links apply, and no style policy is in the way.

import { getShareMessages } from "./messages.ts";

export interface ShareButton {
  root: HTMLElement;
  /** What the button says next; nothing else about it changes. */
  setLabel(text: "share" | "severed"): void;
  setNote(text?: "busy" | "done" | "elsewhere" | "closed" | "failed"): void;
  /** Two ways on where no window opens: a new tab, which answers its opener, and this one. */
  showLinks(address: string, onHere: (() => string) | undefined): void;
}

/** Null where there is no place for it. The click handler comes with the button, so none is lost. */
export function createShareButton(tag: HTMLScriptElement, form: HTMLFormElement | undefined, onClick: () => void): ShareButton | null {
  const isPlaced = document.body?.contains(tag);
  const place = isPlaced ? tag : form;
  if (!place) return null;
  const words = getShareMessages(place);

  const root = document.createElement("div");
  root.className = "svc-share";
  root.lang = words.lang;
  const button = document.createElement("button");
  button.type = "button";
  button.addEventListener("click", ({ detail }) => {
    // The second half of a double click asks for nothing new.
    if (detail < 2) onClick();
  });
  const note = document.createElement("div");
  note.setAttribute("role", "status");
  const ways = document.createElement("div");
  root.append(button, note, ways);

  const self: ShareButton = {
    root,
    setLabel(text) {
      button.textContent = words[text];
    },
    setNote(text) {
      note.textContent = text ? words[text] : "";
      ways.textContent = "";
      button.setAttribute("aria-busy", String(text === "busy"));
    },
    showLinks(address, onHere) {
      self.setNote();
      note.textContent = words.blocked;
      ways.append(createLink(address, words.newTab));
      if (!onHere) return;
      const here = createLink(address, words.here);
      here.target = "_self";
      here.addEventListener("click", () => {
        here.href = onHere();
      });
      ways.append(" ", here);
    },
  };
  self.setLabel("share");
  if (isPlaced) tag.after(root);
  else place.prepend(root);
  return self;
}

/**
 * A link says where it comes from even on a page that sends no referrer; without that the sheet, cut off from its opener,
 * could not come back. `rel=opener` keeps the new tab in touch with this page.
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
