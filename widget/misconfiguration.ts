// Console warnings for the page's owner: one line per mistake, once per page. The messages are constants, so they cannot contain anything
// about the visitor.

import { queryPage } from "./native-form.ts";

const reportedCauses = new Set<string>();

export function warnOwner(cause: string): void {
  if (reportedCauses.has(cause)) return;
  reportedCauses.add(cause);
  try {
    console.warn(`svc.js: ${cause}`);
  } catch {
    // The page may have replaced the console with one that throws. Then only the warning is lost.
  }
}

/**
 * A setup mistake on the page that prevents certification or sharing. It is reported only when a form is submitted or certified, or when a
 * share button is clicked, because the page may be incomplete before that.
 */
export class Misconfiguration extends Error {}

/** Returns the elements that a selector option matches. Throws Misconfiguration if the selector is invalid. */
export function selectElements(selector: string, option: string): HTMLInputElement[] {
  try {
    return queryPage(selector);
  } catch {
    throw new Misconfiguration(`data-${option}-selector is invalid: correct it`);
  }
}

/** Warns about a refusal whose cause the page's owner can correct. */
export function warnAboutRefusal(code: string): void {
  if (/^(client_not_|plan_)|_not_verified$/.test(code)) warnOwner(`refused: ${code}`);
}
