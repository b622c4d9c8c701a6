// The contact fields of the submission: which controls, under which key, with which value.
// A control is identified first and read only then: what has no key never has its value looked at.

import { guessFieldKey, collectHints, isOffLimits } from "../core/forms/field-names.ts";
import { getControls, queryPage } from "./native-form.ts";

/** The rule of the API for a field key; one bad key would have the whole certificate refused. */
const fieldKeyPattern = /^[a-z][a-z0-9_]{0,39}$/;

// Copied phone numbers often carry invisible direction marks (contact apps add them). Nobody typed them, and the API
// refuses a value that holds one. Joiners (U+200C, U+200D) are part of scripts and emoji and stay.
const invisibleCharacters = /[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

export type FieldMap = [selector: string, key: string][];

/** The map as given: an object, or the JSON of one. What cannot be parsed is no map, and guessing takes over. */
export function parseFieldMap(given: string | Record<string, string> = {}): FieldMap {
  try {
    return Object.entries(typeof given === "string" ? JSON.parse(given) : given);
  } catch {
    return [];
  }
}

/** Key to value, every key once, empty values left out; the explicit map beats the attribute, the attribute any guess. */
export function collectFields(form: HTMLFormElement, map: FieldMap): Record<string, string> {
  const fields: Record<string, string> = {};
  const ranks = new Map<string, number>();
  for (const { control, key, rank } of identifyControls(form, map)) {
    const known = ranks.get(key);
    if (known !== undefined && known <= rank) continue;
    const value = getControlText(control);
    if (value && (rank < 2 || isPlausible(key, value))) {
      // The API takes the two letters of a country under `country`; a name is kept all the same.
      fields[key === "country" && !/^[a-z]{2}$/i.test(value) ? "country_name" : key] = value;
      ranks.set(key, rank);
    }
  }
  return fields;
}

export interface IdentifiedControl {
  control: HTMLInputElement;
  key: string;
  /** Smaller is surer. */
  rank: number;
}

/** The controls of the form that hold a contact field, in the form's order; no value is read for that. */
export function* identifyControls(form: HTMLFormElement, map: FieldMap): Iterable<IdentifiedControl> {
  // Asked the other way round, `control.labels` walks the whole page for each control: seconds in a form of thousands.
  // Backwards, so that the first label of a control stays.
  const labels = new Map(
    queryPage<HTMLLabelElement>("label")
      .reverse()
      .map((label) => [label.control, label]),
  );
  for (const control of getControls(form)) {
    const hints = collectHints(control, labels.get(control));
    const [key, rank] = isOffLimits(control, hints) ? ["", 0] : identifyControl(control, hints, map);
    if (fieldKeyPattern.test(key)) yield { control, key, rank };
  }
}

/** An explicitly given empty key leaves the control out for good. */
function identifyControl(control: HTMLInputElement, hints: string[], map: FieldMap): [key: string, rank: number] {
  const mapped = map.find(([selector]) => matchesSelector(control, selector));
  if (mapped) return [mapped[1] || "", 0];
  const named = control.getAttribute("data-svc-field");
  return named === null ? guessFieldKey(control, hints) : [named, 1];
}

function matchesSelector(control: Element, selector: string): boolean {
  try {
    return control.matches(selector);
  } catch {
    return false; // one bad selector in the map does not spoil the rest
  }
}

function getControlText(control: HTMLInputElement): string {
  if (/^(checkbox|radio)$/.test(control.type) && !control.checked) return "";
  // Lines of a textarea become one line; the API takes no control characters, and at most 500 characters.
  const value = String(control.value || "")
    .replace(invisibleCharacters, "")
    .replace(/[\t\r\n]+/g, " ")
    .trim();
  return value.length > 500 ? "" : value;
}

/** A guess is checked against the value: a "contact by e-mail" list answering "weekly" is not an address. */
function isPlausible(key: string, value: string): boolean {
  return key === "email" ? /@/.test(value) : key !== "phone" || /\d/.test(value);
}
