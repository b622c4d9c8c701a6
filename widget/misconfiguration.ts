// What is wrong with the set-up of the page, said in the console to whoever set it up: one line, once per page and cause.
// Only sentences of this script, so that nothing about the visitor can stand there.

import { queryPage } from "./native-form.ts";

const reportedCauses = new Set<string>();

export function warnOwner(cause: string): void {
  if (reportedCauses.has(cause)) return;
  reportedCauses.add(cause);
  try {
    console.warn(`svc.js: ${cause}`);
  } catch {
    // A page that has replaced its console by something that throws loses the line, not the certificate.
  }
}

/** Why the set-up of the page does not allow to certify. Told only where it stops a submission: a form may be half built before. */
export class Misconfiguration extends Error {}

/** What an option selects. Something that is no selector is a mistake, which is more than finding nothing. */
export function selectElements(selector: string, option: string): HTMLInputElement[] {
  try {
    return queryPage(selector);
  } catch {
    throw new Misconfiguration(`the ${option} selector is no selector`);
  }
}

/** Refusals that the owner can end. Others say something about the submission, or about nothing the page can change. */
const refusalCauses = new Map([
  ["client_not_found", "the client id is unknown"],
  ["origin_not_verified", "the domain of this page is not verified"],
  ["page_url_not_verified", "the domain of this page is not verified"],
  ["plan_required", "the plan does not include certificates"],
]);

export function warnAboutRefusal(code: string): void {
  const cause = refusalCauses.get(code);
  if (cause) warnOwner(cause);
}
