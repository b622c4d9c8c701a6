// The disclosure text that the visitor sees, and how it is presented.

import type { ConsentOptions } from "./config.ts";
import { Misconfiguration, selectElements } from "./misconfiguration.ts";

/**
 * The disclosure that was displayed when a consent box last changed. It is recorded at that time, because the last step of a multistep form
 * may no longer show the disclosure.
 */
const disclosureWhenChecked = new WeakMap<HTMLFormElement, Disclosure | undefined>();

export interface Disclosure {
  text: string;
  presentation?: { visible: boolean; font_px: number };
}

/**
 * Returns this submission's disclosure. If the disclosure is hidden now, returns the one that was displayed when a consent box last
 * changed. Uses `disclosureText` only if the selector matches nothing. Throws Misconfiguration if there is no text.
 */
export function getDisclosure(form: HTMLFormElement, { disclosureSelector, disclosureText = "" }: ConsentOptions): Disclosure {
  const found = findDisclosureElements(disclosureSelector);
  const text = disclosureText.trim();
  const disclosure = found.length ? findDisplayedDisclosure(form, found) || disclosureWhenChecked.get(form) : text && { text };
  if (disclosure) return disclosure;
  throw new Misconfiguration(
    found.length || disclosureSelector === undefined
      ? "no disclosure is displayed: set data-disclosure-selector"
      : "data-disclosure-selector matches nothing: correct it",
  );
}

export function recordDisclosure(form: HTMLFormElement, { disclosureSelector }: ConsentOptions): void {
  disclosureWhenChecked.set(form, findDisplayedDisclosure(form, findDisclosureElements(disclosureSelector)));
}

export function forgetDisclosure(form: HTMLFormElement): void {
  disclosureWhenChecked.delete(form);
}

export function findDisclosureElements(selector: string | undefined): HTMLElement[] {
  return selector === undefined ? [] : selectElements(selector, "disclosure");
}

/**
 * Returns the disclosure in the first displayed element inside the form. If there is none, returns the first one outside all forms. A
 * disclosure inside a different form belongs to that form.
 */
function findDisplayedDisclosure(form: HTMLFormElement, found: HTMLElement[]): Disclosure | undefined {
  for (const owner of [form, null]) {
    for (const element of found) {
      const text = element.closest("form") === owner && getDisplayedText(element);
      if (text) return { text, presentation: describePresentation(element) };
    }
  }
  return undefined;
}

/** Replaces the characters that the API refuses: control characters, direction overrides and unpaired surrogates. */
export function replaceRefusedCharacters(text: string): string {
  return text.replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\u202d\u202e]/gu, "\ufffd");
}

export function getDisplayedText(element: HTMLElement): string {
  // innerText also returns text that is not rendered, even script text. The text therefore counts only if the element's contents have
  // boxes. A range is used because an element with display:contents has no box itself.
  const contents = document.createRange();
  contents.selectNodeContents(element);
  // biome-ignore lint/performance/useDomNodeTextContent: textContent also contains hidden text
  return contents.getClientRects().length ? replaceRefusedCharacters(element.innerText.replace(/\s+/g, " ").trim()) : "";
}

/**
 * Describes how the disclosure is presented. If it is transparent, one pixel in size or off the page, the submission is still certified,
 * but the evidence says `visible: false`.
 */
function describePresentation(element: HTMLElement) {
  // The content of an element without a box (display:contents) is in the box of its parent.
  const boxed = (!element.getClientRects().length && element.parentElement) || element;
  const box = boxed.getBoundingClientRect();
  return {
    font_px: Math.min(1000, parseFloat(getComputedStyle(element).fontSize)), // the API accepts at most 1,000
    visible:
      box.width > 1 &&
      box.height > 1 &&
      box.right + scrollX > 0 &&
      box.bottom + scrollY > 0 &&
      (!boxed.checkVisibility || boxed.checkVisibility({ checkOpacity: true })),
  };
}
