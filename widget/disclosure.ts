// The disclosure as the visitor sees it at this moment, and how it is presented.

import type { ConsentOptions } from "./attributes.ts";
import { onPage } from "./native-form.ts";

export interface Disclosure {
  text: string;
  presentation?: { visible: boolean; font_px: number };
}

/**
 * The text of the first displayed element the selector finds: one inside the form, or else one outside every form (a
 * disclosure inside another form was shown for that form). The literal speaks only where nothing is found at all: an
 * element that is there but not displayed gives nothing, because nobody saw it.
 */
export function disclosureOf(form: HTMLFormElement, { disclosureSelector, disclosureText = "" }: ConsentOptions): Disclosure | undefined {
  const found = disclosureSelector === undefined ? [] : onPage<HTMLElement>(disclosureSelector);
  for (const place of [form, null]) {
    for (const element of found) {
      const text = element.closest("form") === place && displayedText(element);
      if (text) return { text, presentation: presentationOf(element) };
    }
  }
  const text = !found.length && disclosureText.trim();
  return text ? { text } : undefined;
}

function displayedText(element: HTMLElement): string {
  // innerText of an element that is not rendered falls back to textContent, script text included, so first ask
  // whether its contents have boxes. The range also answers for display:contents, which has no box of its own.
  const contents = document.createRange();
  contents.selectNodeContents(element);
  // biome-ignore lint/performance/useDomNodeTextContent: the displayed text is the point; textContent holds hidden text too
  return contents.getClientRects().length ? element.innerText.replace(/\s+/g, " ").trim() : "";
}

/** Evidence, not a gate: what is faded out, a pixel large or off the page is certified and said to be so. */
function presentationOf(element: HTMLElement) {
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
