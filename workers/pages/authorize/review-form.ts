// Parses and checks what the person chose and typed on the review step of the consent sheet.
import {
  findInvalidKeys,
  filterKeysInGroup,
  groupsFromKeys,
  type ContactFields,
  type ContactKey,
  type FieldGroup,
  type RequestedScope,
} from "../../../core/shares/fields.ts";
import type { ToE164 } from "../../../core/certificates/recognized-fields.ts";
import type { FormFields } from "../shared/form-handlers.ts";

/** The person's choices and typed values, by form field. */
export type DecisionChoices = ReadonlyMap<string, string>;

const fieldPrefix = "field.";

export const fieldName = (key: ContactKey): string => `${fieldPrefix}${key}`;

/** Address parts that many people do not have; they may stay blank even if the request marks them as required. */
export const blankableKeys: ReadonlySet<ContactKey> = new Set(["address_line2", "state"]);

/** Returns the fields of a posted form that are needed to show the same review again. */
export const parseChoices = (form: FormFields): DecisionChoices =>
  new Map([...form].filter(([name]) => name === "days" || name === "persona" || name.startsWith("group.") || name.startsWith(fieldPrefix)));

/** Removes the values that the person typed, because a cookie must not contain them. */
export const withoutTypedValues = (choices: DecisionChoices): DecisionChoices =>
  new Map([...choices].filter(([name]) => !name.startsWith(fieldPrefix)));

export const listOptionalKeys = ({ scope, needed }: RequestedScope): readonly ContactKey[] => scope.filter((key) => !needed.includes(key));

export type FieldErrorKind = "missing" | "invalid";

export interface ReviewedForm {
  readonly scope: readonly ContactKey[];
  /** The values to save with the decision; null clears a saved value. */
  readonly changes: ReadonlyMap<ContactKey, string | null>;
  /** The fields with an error, in the order of the requested scope. */
  readonly errors: ReadonlyMap<ContactKey, FieldErrorKind>;
  /**
   * True if the value of a selected checkbox lists none of its group's fields. This happens if an earlier version of the service rendered
   * the sheet.
   */
  readonly isOutdated: boolean;
}

/**
 * If the person selected an optional group, returns the group's fields that the sheet showed. The value of the group's checkbox lists them.
 */
const listSelectedKeys = (form: DecisionChoices, optional: readonly ContactKey[], group: FieldGroup): readonly ContactKey[] => {
  const shown = new Set(form.get(`group.${group}`)?.split(" "));
  return filterKeysInGroup(optional, group).filter((key) => shown.has(key));
};

/**
 * Reads the required fields and the selected optional groups. If there is neither a typed nor a saved email address, uses `signInEmail`.
 * Ignores values typed into an optional group that is not selected, and optional fields that were saved after the sheet was shown.
 */
export const reviewForm = (
  form: DecisionChoices,
  { scope, needed }: RequestedScope,
  saved: ContactFields,
  signInEmail: string | null,
  toE164: ToE164,
): ReviewedForm => {
  const optional = listOptionalKeys({ scope, needed });
  const groups = groupsFromKeys(optional);
  const selected = groups.map((group) => listSelectedKeys(form, optional, group));
  const chosen = scope.filter((key) => needed.includes(key) || selected.some((keys) => keys.includes(key)));
  const changes = new Map(
    chosen.flatMap((key): readonly (readonly [ContactKey, string | null])[] => {
      const typed = form.get(fieldName(key))?.trim();
      const stored = saved[key]?.value;
      if (!typed && key === "email" && stored === undefined && signInEmail !== null) return [[key, signInEmail]];
      if (typed === undefined || typed === (stored ?? "")) return [];
      return [[key, typed || null]];
    }),
  );
  const hasValue = (key: ContactKey): boolean => (changes.has(key) ? changes.get(key) !== null : saved[key] !== undefined);
  const missing = new Set([
    ...needed.filter((key) => !hasValue(key) && !blankableKeys.has(key)),
    ...selected.flatMap((keys) => (keys.some(hasValue) ? [] : keys.slice(0, 1))),
  ]);
  const invalid = new Set(findInvalidKeys(saved, changes, toE164));
  const findError = (key: ContactKey): FieldErrorKind | null => (missing.has(key) ? "missing" : invalid.has(key) ? "invalid" : null);
  const errors = new Map(
    chosen.flatMap((key): readonly (readonly [ContactKey, FieldErrorKind])[] => {
      const error = findError(key);
      return error === null ? [] : [[key, error]];
    }),
  );
  return {
    scope: chosen.filter((key) => needed.includes(key) || hasValue(key)),
    changes,
    errors,
    isOutdated: groups.some((group, index) => form.has(`group.${group}`) && selected[index]?.length === 0),
  };
};

/** Returns true for a field that was in the posted form. The review then shows it again as an input. */
export const isTyped = (choices: DecisionChoices, key: ContactKey): boolean => choices.has(fieldName(key));
