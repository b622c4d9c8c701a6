// The ten contact fields that a person can share, the groups they are told in, and what a value of each must be (SPEC, Consumer
// contact fields; CONTRACT 2). The order of `contactKeys` is the order of every answer, and of the bits of a stored scope.
import { validateFieldKind } from "../certificates/field-kinds.ts";
import { ok, refuse, type Result } from "../result.ts";
import { validateLine, trimWhiteSpace } from "../text.ts";
import type { ToE164 } from "../certificates/normalized-subject.ts";
import type { Instant } from "../time.ts";

export const fieldGroups = {
  email: ["email"],
  phone: ["phone"],
  address: ["address_line1", "address_line2", "city", "state", "zip", "country"],
  name: ["first_name", "last_name"],
} as const;

export type FieldGroup = keyof typeof fieldGroups;
export type ContactKey = (typeof fieldGroups)[FieldGroup][number];

export const fieldGroupNames = Object.keys(fieldGroups) as readonly FieldGroup[];
export const contactKeys: readonly ContactKey[] = fieldGroupNames.flatMap((group): readonly ContactKey[] => fieldGroups[group]);

const contactKeySet: ReadonlySet<string> = new Set(contactKeys);
export const isContactKey = (text: string): text is ContactKey => contactKeySet.has(text);

/** The groups that hold at least one of the keys, in their order. */
export const groupsFromKeys = (keys: readonly ContactKey[]): readonly FieldGroup[] =>
  fieldGroupNames.filter((group) => fieldGroups[group].some((key) => keys.includes(key)));

const sortContactKeys = (keys: ReadonlySet<ContactKey>): readonly ContactKey[] => contactKeys.filter((key) => keys.has(key));

/** One bit a key, the first key the lowest. */
export const scopeToBits = (scope: readonly ContactKey[]): number =>
  contactKeys.reduce((bits, key, at) => (scope.includes(key) ? bits | (1 << at) : bits), 0);
export const scopeFromBits = (bits: number): readonly ContactKey[] => contactKeys.filter((_, at) => (bits & (1 << at)) !== 0);

export interface RequestedScope {
  readonly scope: readonly ContactKey[];
  /** Those of the scope without which the business does not want it; the others are the person's to add. */
  readonly needed: readonly ContactKey[];
}

/** Field keys and group names; one followed by `?` is optional to the person. What is asked both ways is needed. */
export const parseRequestedScope = (words: readonly string[]): Result<RequestedScope, "invalid_request"> => {
  const scope = new Set<ContactKey>();
  const needed = new Set<ContactKey>();
  for (const word of words) {
    const name = word.endsWith("?") ? word.slice(0, -1) : word;
    const keys = isContactKey(name) ? [name] : Object.hasOwn(fieldGroups, name) ? fieldGroups[name as FieldGroup] : [];
    if (keys.length === 0) return refuse("invalid_request", "scope: must name contact fields or their groups.");
    for (const key of keys) {
      scope.add(key);
      if (name === word) needed.add(key);
    }
  }
  if (scope.size === 0) return refuse("invalid_request", "scope: must name at least one contact field.");
  return ok({ scope: sortContactKeys(scope), needed: sortContactKeys(needed) });
};

/** What a person keeps: each value with the time it was set. A key without a value is not there. */
export type ContactFields = Readonly<Partial<Record<ContactKey, { readonly value: string; readonly updatedAt: Instant }>>>;

/** A value for each key of a scope; null where there is none. */
export type ScopedValues = Readonly<Partial<Record<ContactKey, string | null>>>;

/** The keys of a scope that belong to a group. */
export const filterKeysInGroup = (scope: readonly ContactKey[], group: FieldGroup): readonly ContactKey[] => {
  const members: readonly ContactKey[] = fieldGroups[group];
  return scope.filter((key) => members.includes(key));
};

/** The values of a group as one line; null where there is none. */
export const formatFieldGroup = (fields: ContactFields, scope: readonly ContactKey[], group: FieldGroup): string | null => {
  const values = filterKeysInGroup(scope, group).flatMap((key) => fields[key]?.value ?? []);
  return values.length === 0 ? null : values.join(group === "name" ? " " : ", ");
};

export const getScopedValues = (fields: ContactFields, scope: readonly ContactKey[]): ScopedValues =>
  Object.fromEntries(scope.map((key) => [key, fields[key]?.value ?? null]));

const maxValueLength = 200;
/** Of a number without a prefix, from somebody who has not said where they live. */
export const defaultCountry = "US";

/** What a value is stored as; null clears it. Refuses with the key and the rule it broke. */
const parseFieldValue = (
  key: ContactKey,
  raw: string | null,
  country: string,
  toE164: ToE164,
): Result<string | null, "invalid_request"> => {
  const value = trimWhiteSpace(raw ?? "");
  if (value === "") return ok(null);
  const broken = (rule: string) => refuse("invalid_request", `${key}: ${rule}.`);
  const maxLength = key === "email" ? 254 : maxValueLength;
  if (value.length > maxLength) return broken(`must be at most ${maxLength} characters`);
  const fault = validateLine(value) ?? validateFieldKind(key, value);
  if (fault !== null) return broken(fault);
  if (key === "phone" && toE164(value, country) === null) return broken("must be a telephone number");
  return ok(key === "country" ? value.toUpperCase() : value);
};

export interface FieldsUpdate {
  readonly fields: ContactFields;
  /** Those whose value is another one now. */
  readonly changedKeys: readonly ContactKey[];
}

/** Applies a partial change. The same value, however it was spaced at its ends, changes nothing. */
export const applyFieldChanges = (
  current: ContactFields,
  change: ReadonlyMap<ContactKey, string | null>,
  now: Instant,
  toE164: ToE164,
): Result<FieldsUpdate, "invalid_request"> => {
  const country = trimWhiteSpace(change.get("country") ?? "") || current.country?.value || defaultCountry;
  const fields: Partial<Record<ContactKey, { value: string; updatedAt: Instant }>> = { ...current };
  const changed: ContactKey[] = [];
  for (const [key, raw] of change) {
    const read = parseFieldValue(key, raw, country.toUpperCase(), toE164);
    if (!read.ok) return read;
    if (read.value === (current[key]?.value ?? null)) continue;
    changed.push(key);
    if (read.value === null) delete fields[key];
    else fields[key] = { value: read.value, updatedAt: now };
  }
  return ok({ fields, changedKeys: contactKeys.filter((key) => changed.includes(key)) });
};
