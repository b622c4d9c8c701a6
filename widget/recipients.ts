// Who is named, and who was ticked. Reads the boxes; nothing in this folder ever writes `checked`.

import { belongingTo, onPage } from "./native-form.ts";

export interface Recipients {
  entities_accepted: string[];
  entities_rejected: string[];
}

/** "Acme, Inc.|Beta" splits on the bar; only a list without a bar splits on commas. First spelling of a name wins. */
export function entitiesFrom(given: unknown): string[] {
  const text = String(given || "");
  const list: unknown[] = Array.isArray(given) ? given : text.split(text.includes("|") ? "|" : ",");
  const names = list.map((name) => String(name).trim()).filter(Boolean);
  const spellings = names.map(comparable);
  return names.filter((name, index) => spellings.indexOf(comparable(name)) === index);
}

export function isTicked(box: HTMLInputElement): boolean {
  return box.checked || box.getAttribute("aria-checked") === "true";
}

/**
 * What the form's recipient boxes say, or undefined when it has none ("never asked" is not "declined nobody").
 * A name with two boxes counts as rejected as soon as one of them is unticked; undeclared names are ignored.
 */
export function recipientsOf(form: HTMLFormElement, entities: string[]): Recipients | undefined {
  const boxes = belongingTo(form, onPage("[data-sp1-entity]"));
  if (!boxes.length) return undefined;

  const asked = new Map<string, boolean>();
  for (const box of boxes) {
    const name = comparable(box.getAttribute("data-sp1-entity") || "");
    asked.set(name, asked.get(name) !== false && isTicked(box));
  }
  const answered = (answer: boolean) => entities.filter((name) => asked.get(comparable(name)) === answer);
  return { entities_accepted: answered(true), entities_rejected: answered(false) };
}

// The same name may be written precomposed in one place and decomposed in the other; the text itself is sent as declared.
function comparable(name: string): string {
  return name.trim().normalize();
}
