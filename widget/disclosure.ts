// The disclosure as the visitor sees it at this moment, and how it is presented.

import type { ConsentOptions } from "./config.ts";
import { Misconfiguration, selectElements } from "./misconfiguration.ts";

/** What was displayed beside a consent box when it was ticked: the step of a wizard is hidden when the form is sent. */
const disclosureWhenChecked = new WeakMap<HTMLFormElement, Disclosure | undefined>();

export interface Disclosure {
  text: string;
  presentation?: { visible: boolean; font_px: number };
}

/**
 * The disclosure of this submission. One that is hidden by now counts as it was when the box was ticked; one that was
 * hidden then too counts as none, because nobody saw it. The literal speaks only where nothing is found at all. Throws
 * when there is none.
 */
export function getDisclosure(form: HTMLFormElement, { disclosureSelector, disclosureText = "" }: ConsentOptions): Disclosure {
  const found = findDisclosureElements(disclosureSelector);
  const text = disclosureText.trim();
  const disclosure = found.length ? findDisplayedDisclosure(form, found) || disclosureWhenChecked.get(form) : text && { text };
  if (disclosure) return disclosure;
  throw new Misconfiguration(
    found.length || disclosureSelector === undefined ? "no disclosure is displayed" : "the disclosure selector finds nothing",
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
 * The first that is displayed: one inside the form, or else one outside every form (a disclosure inside another form was
 * shown for that form).
 */
function findDisplayedDisclosure(form: HTMLFormElement, found: HTMLElement[]): Disclosure | undefined {
  for (const place of [form, null]) {
    for (const element of found) {
      const text = element.closest("form") === place && getDisplayedText(element);
      if (text) return { text, presentation: describePresentation(element) };
    }
  }
  return undefined;
}

export function getDisplayedText(element: HTMLElement): string {
  // innerText of an element that is not rendered falls back to textContent, script text included, so first ask
  // whether its contents have boxes. The range also answers for display:contents, which has no box of its own.
  const contents = document.createRange();
  contents.selectNodeContents(element);
  // biome-ignore lint/performance/useDomNodeTextContent: the displayed text is the point; textContent holds hidden text too
  return contents.getClientRects().length ? element.innerText.replace(/\s+/g, " ").trim() : "";
}

/** Evidence, not a gate: what is faded out, a pixel large or off the page is certified and said to be so. */
function describePresentation(element: HTMLElement) {
  // Without a box of its own (display:contents) the parent's is where the text stands.
  const boxed = (!element.getClientRects().length && element.parentElement) || element;
  const box = boxed.getBoundingClientRect();
  return {
    font_px: parseFloat(getComputedStyle(element).fontSize),
    visible:
      box.width > 1 &&
      box.height > 1 &&
      box.right + scrollX > 0 &&
      box.bottom + scrollY > 0 &&
      (!boxed.checkVisibility || boxed.checkVisibility({ checkOpacity: true })),
  };
}
