// A submission's contact fields. Controls are identified before their values are read. The value of a control without a field key is never
// read, except for the country picker of a phone field (dial-code.ts).

import { fieldKeyPattern, guessFieldKey, collectHints, isOffLimits } from "../core/forms/field-names.ts";
import { addDialCode } from "./dial-code.ts";
import { getControls, queryPage } from "./native-form.ts";
import { removeInvisible } from "./text.ts";

export type FieldMap = [selector: string, key: string][];

/** Parses a field map, given as an object or its JSON. Invalid JSON counts as an empty map, so fields are guessed. */
export function parseFieldMap(map: string | Record<string, string> = {}): FieldMap {
  try {
    return Object.entries(typeof map === "string" ? JSON.parse(map) : map);
  } catch {
    return [];
  }
}

/** The API's limits. The API refuses the whole certificate if it gets more fields or a longer value. */
const maxFields = 20;
const maxValueLength = 500;

export interface CollectedFields {
  fields: Record<string, string>;
  /** True if fields were left out because the form has more fields, or a longer value, than a certificate can contain. */
  fields_truncated: true | undefined;
}

/**
 * Returns the non-empty values by field key. The field map takes precedence over `data-svc-field`, and both take precedence over a guess.
 * If there are too many values, returns the most certain ones. Leaves out values that are too long.
 */
export function collectFields(form: HTMLFormElement, map: FieldMap): CollectedFields {
  const found = [...identifyControls(form, map)];
  const hasPhone = found.some((each) => each.key === "phone" && each.rank < 10 && !isGuessedMobile(each) && getControlText(each.control));
  // The picker search must not stop at controls that may be the country picker itself, so they are left out.
  const others = found.filter(({ control, key }) => key !== "country" && !/^(select-one|hidden)$/.test(control.type));
  const best = new Map<string, { key: string; value: string; rank: number }>();
  let isTruncated: true | undefined;
  for (const each of found) {
    const { control, rank } = each;
    const key = hasPhone && isGuessedMobile(each) ? "mobile" : each.key;
    const known = best.get(key);
    if (known && known.rank <= rank) continue;
    const value = getControlText(control);
    // A hidden input counts only if it contains a complete number. A guessed key counts only if the value fits it or the control's type
    // equals it.
    if (!value || (control.type === "hidden" ? value[0] !== "+" : rank > 1 && control.type !== key && !isPlausible(key, value))) continue;
    if (value.length > maxValueLength) {
      isTruncated = true;
    } else {
      best.set(key, {
        // `country` accepts only a two-letter code, so a country name is sent as `country_name`.
        key: key === "country" && !/^[a-z]{2}$/i.test(value) ? "country_name" : key,
        rank,
        value: /phone|mobile|whatsapp|landline|(^|_)(tel|cell)(_|$)/.test(key) ? addDialCode(control, value, others) : value,
      });
    }
  }
  const chosen = [...best.values()];
  if (chosen.length > maxFields) {
    isTruncated = true;
    chosen.sort((a, b) => a.rank - b.rank);
  }
  const fields: Record<string, string> = {};
  for (const { key, value } of chosen.slice(0, maxFields)) fields[key] = value;
  return { fields, fields_truncated: isTruncated };
}

/**
 * Returns true if the control was guessed to be a phone field and its name or ID suggests a mobile number. If another phone field is also
 * filled in, this control's number is sent as `mobile`.
 */
function isGuessedMobile({ control, key, rank }: IdentifiedControl): boolean {
  return key === "phone" && rank > 1 && /mobil|cel|movil/i.test(control.name + control.id);
}

export interface IdentifiedControl {
  control: HTMLInputElement;
  key: string;
  /** The lower the rank, the more certain the key. */
  rank: number;
}

/** Yields the form's controls that are contact fields, in document order. Does not read values. */
export function* identifyControls(form: HTMLFormElement, map: FieldMap): Iterable<IdentifiedControl> {
  // `control.labels` searches the whole page for each control, which takes seconds in a form with thousands of controls. The list is
  // reversed because the last entry for a control stays in the map, and the control's first label must be used.
  const labels = new Map(
    queryPage<HTMLLabelElement>("label")
      .reverse()
      .map((label) => [label.control, label.textContent]),
  );
  for (const control of getControls(form)) {
    const hints = collectHints(control, labels.get(control));
    const [key, rank] = identifyControl(control, hints, map);
    // Some phone fields with a country picker store the full number in a hidden input. It is used only if the page assigns it a key.
    const isFullNumber = control.type === "hidden" && rank < 2 && /^(phone|mobile)$/.test(key);
    if (!isOffLimits(control, hints, isFullNumber) && fieldKeyPattern.test(key)) yield { control, key, rank };
  }
}

/** Returns the control's key and rank. An empty key in the field map or in `data-svc-field` excludes the control. */
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
    return false; // an invalid selector must not disable the rest of the map
  }
}

function getControlText(control: HTMLInputElement): string {
  if (/^(checkbox|radio)$/.test(control.type) && !control.checked) return "";
  // The API replaces control characters with U+FFFD, so the lines of a textarea are joined here. The `value` of a list is only its first
  // selected option.
  const { selectedOptions } = control as unknown as Partial<HTMLSelectElement>;
  const text = [...(selectedOptions || [control])].map((part) => part.value || "").join(", ");
  return removeInvisible(text)
    .replace(/[\t\r\n]+/g, " ")
    .trim();
}

/** Returns whether the value fits a guessed key. For example, the value "weekly" from a "contact by email" list is not an email address. */
function isPlausible(key: string, value: string): boolean {
  return key === "email" ? /@/.test(value) : key !== "phone" || /^(\P{Nd}*\p{Nd}){5}/u.test(value);
}
