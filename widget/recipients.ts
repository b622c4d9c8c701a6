// Who is named, and who was ticked. Reads the boxes; nothing in this folder ever writes `checked`.

import { filterByForm, queryPage } from "./native-form.ts";

export interface RecipientChoices {
  entities_accepted: string[];
  entities_rejected: string[];
}

/** "Acme, Inc.|Beta" splits on the bar; only a list without a bar splits on commas. First spelling of a name wins. */
export function parseEntities(given: unknown): string[] {
  const text = String(given || "");
  const list: unknown[] = Array.isArray(given) ? given : text.split(text.includes("|") ? "|" : ",");
  const names = list.map((name) => String(name).trim()).filter(Boolean);
  const spellings = names.map(normalizeName);
  return names.filter((name, index) => spellings.indexOf(normalizeName(name)) === index);
}

export function isChecked(box: HTMLInputElement): boolean {
  return box.checked || box.getAttribute("aria-checked") === "true";
}

/**
 * What the form's recipient boxes say, or undefined when it has none ("never asked" is not "declined nobody").
 * A name with two boxes counts as rejected as soon as one of them is unticked; undeclared names are ignored.
 */
export function collectRecipients(form: HTMLFormElement, entities: string[]): RecipientChoices | undefined {
  const boxes = filterByForm(form, queryPage("[data-sp1-entity]"));
  if (!boxes.length) return undefined;

  const asked = new Map<string, boolean>();
  for (const box of boxes) {
    const name = normalizeName(box.getAttribute("data-sp1-entity") || "");
    asked.set(name, asked.get(name) !== false && isChecked(box));
  }
  const answered = (answer: boolean) => entities.filter((name) => asked.get(normalizeName(name)) === answer);
  return { entities_accepted: answered(true), entities_rejected: answered(false) };
}

// The same name may be written precomposed in one place and decomposed in the other; the text itself is sent as declared.
function normalizeName(name: string): string {
  return name.trim().normalize();
}
