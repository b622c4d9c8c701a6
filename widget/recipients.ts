// The recipients that the page lists and the recipients that the visitor accepted. No code in this folder sets `checked`, because only the
// visitor may give consent.

import { filterByForm, queryPage } from "./native-form.ts";
import { toLine } from "./text.ts";

export interface RecipientChoices {
  entities_accepted: string[];
  entities_rejected: string[];
}

/** Splits a list at "|" if it contains one ("Acme, Inc.|Beta"), otherwise at commas. The first spelling of a name wins. */
export function parseEntities(entities: unknown): string[] {
  const text = String(entities || "");
  const list: unknown[] = Array.isArray(entities) ? entities : text.split(text.includes("|") ? "|" : ",");
  const names = list.map((name) => toLine(String(name))).filter(Boolean);
  const spellings = names.map(normalizeName);
  return names.filter((name, index) => spellings.indexOf(normalizeName(name)) === index);
}

/**
 * Returns whether a box is checked. `aria-checked` counts only if there is no `checked` property, because a page may set it on a real
 * checkbox and never update it.
 */
export function isChecked(box: HTMLInputElement): boolean {
  return box.checked || (box.checked !== false && box.getAttribute("aria-checked") === "true");
}

/**
 * Returns the accepted and rejected recipients. Returns undefined if the form has no recipient boxes, because "not asked" is not the same
 * as "accepted all". A recipient with two boxes is accepted only if both are checked. Ignores names that are not in `entities`.
 */
export function collectRecipients(form: HTMLFormElement, entities: string[]): RecipientChoices | undefined {
  const boxes = filterByForm(form, queryPage("[data-sp1-entity]"));
  if (!boxes.length) return undefined;

  const choices = new Map<string, boolean>();
  for (const box of boxes) {
    const name = normalizeName(box.getAttribute("data-sp1-entity") || "");
    choices.set(name, choices.get(name) !== false && isChecked(box));
  }
  const filterByChoice = (choice: boolean) => entities.filter((name) => choices.get(normalizeName(name)) === choice);
  return { entities_accepted: filterByChoice(true), entities_rejected: filterByChoice(false) };
}

// Normalizes a name for comparison, because Unicode can encode the same letter in two ways. The request contains the name as written by the
// page.
function normalizeName(name: string): string {
  return toLine(name).normalize();
}
