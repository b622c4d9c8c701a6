// The details into the form, as if the person had typed them: only where nothing stands, with the events of typing.

import { type IdentifiedControl, type identifyControls, parseFieldMap } from "../fields.ts";
import { fillHiddenInput } from "../hidden-input.ts";
import type { RedeemedShare } from "./redeem.ts";

/** Which control holds what. svc.js lends it, so that the share part does not carry it a second time. */
export type ControlIdentifier = typeof identifyControls;
let identify: ControlIdentifier = () => [];

export function setControlIdentifier(lent: ControlIdentifier): void {
  identify = lent;
}

export function fillForm(form: HTMLFormElement, fieldMap: string | undefined, { share_id, fields }: RedeemedShare): void {
  const values = new Map(Object.entries(fields));
  // A form with one field for the name gets both; a name is never split.
  values.set("full_name", [fields.first_name, fields.last_name].filter(Boolean).join(" "));
  for (const { control, key } of selectBestControls(form, fieldMap)) {
    const value = values.get(key);
    if (value && isEmpty(control)) typeValue(control, value);
  }
  fillHiddenInput(form, "svc_share_id", share_id);
}

/** One control a key: the surest, and among equals the first. All are found before one is filled: pages render forms again. */
function selectBestControls(form: HTMLFormElement, fieldMap: string | undefined): Iterable<IdentifiedControl> {
  const best = new Map<string, IdentifiedControl>();
  for (const found of identify(form, parseFieldMap(fieldMap))) {
    const known = best.get(found.key);
    if (!known || found.rank < known.rank) best.set(found.key, found);
  }
  return best.values();
}

/** Boxes are the person's to tick, whatever a map says. */
function isEmpty(control: HTMLInputElement): boolean {
  return !/^(checkbox|radio)$/.test(control.type) && !control.readOnly && !control.value;
}

function typeValue(control: HTMLInputElement | HTMLSelectElement, given: string): void {
  const value = "options" in control ? findOptionValue(control, given) : given;
  if (!value) return;
  // Frameworks watch the element's own property; the prototype's setter is what typing goes past them with.
  Reflect.set(Object.getPrototypeOf(control), "value", value, control);
  for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
}

/** The entry of a list that says the same, by its value or its words; none is chosen where none does. */
function findOptionValue({ options }: HTMLSelectElement, wanted: string): string | undefined {
  const isWanted = (text: string) => text.trim().toLowerCase() === wanted.toLowerCase();
  return Array.from(options).find(({ value, text }) => isWanted(value) || isWanted(text))?.value;
}
