// Fills the shared details into empty fields of the form, and dispatches the events that typing would cause.

import { type IdentifiedControl, type identifyControls, parseFieldMap } from "../fields.ts";
import { fillHiddenInput } from "../hidden-input.ts";
import type { RedeemedShare } from "./redeem.ts";

/**
 * The type of `identifyControls`. svc.js passes this function as an argument, so that the share part does not contain a second copy of it.
 */
export type ControlIdentifier = typeof identifyControls;
let identify: ControlIdentifier = () => [];

export function setControlIdentifier(identifier: ControlIdentifier): void {
  identify = identifier;
}

export function fillForm(form: HTMLFormElement, fieldMap: string | undefined, { share_id, fields }: RedeemedShare): void {
  const values = new Map(Object.entries(fields));
  // Adds the full name, for forms with a single name field.
  values.set("full_name", [fields.first_name, fields.last_name].filter(Boolean).join(" "));
  for (const { control, key } of selectBestControls(form, fieldMap)) {
    const value = values.get(key);
    if (value && isEmpty(control)) typeValue(control, value);
  }
  fillHiddenInput(form, "svc_share_id", share_id);
}

/**
 * Selects one control per key: the most certain one or, if several are equally certain, the first. Selects all controls before any is
 * filled in, because the page may render the form again when a control is filled in.
 */
function selectBestControls(form: HTMLFormElement, fieldMap: string | undefined): Iterable<IdentifiedControl> {
  const best = new Map<string, IdentifiedControl>();
  for (const found of identify(form, parseFieldMap(fieldMap))) {
    if (found.control.type === "hidden") continue;
    const known = best.get(found.key);
    if (!known || found.rank < known.rank) best.set(found.key, found);
  }
  return best.values();
}

/**
 * Returns whether a control can be filled in, that is, it is empty and not read-only. Checkboxes and radio buttons are never filled in,
 * even if a field map contains them, because only the person may check them.
 */
function isEmpty(control: HTMLInputElement): boolean {
  return !/^(checkbox|radio)$/.test(control.type) && !control.readOnly && !control.value;
}

function typeValue(control: HTMLInputElement | HTMLSelectElement, text: string): void {
  const value = "options" in control ? findOptionValue(control, text) : text;
  if (!value) return;
  // Frameworks override `value` on the element to detect changes by scripts. The prototype's setter bypasses the override, as typing does.
  Reflect.set(Object.getPrototypeOf(control), "value", value, control);
  for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
}

/** Finds the option whose value or text equals `expected`, ignoring case. */
function findOptionValue({ options }: HTMLSelectElement, expected: string): string | undefined {
  const matches = (text: string) => text.trim().toLowerCase() === expected.toLowerCase();
  return Array.from(options).find(({ value, text }) => matches(value) || matches(text))?.value;
}
