// The ten contact fields that a person can share, their groups, and how their values are validated (SPEC Consumer contact fields). The
// order of `contactKeys` is also the order of fields in responses and of bits in a stored scope.
import type { AddressIndex } from "../access/address-index.ts";
import { validateFieldKind } from "../certificates/field-kinds.ts";
import { ok, refuse, type Result } from "../result.ts";
import { validateLine, trimWhiteSpace } from "../text.ts";
import type { FormatPhone, ToE164 } from "../certificates/recognized-fields.ts";
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

/** Returns the groups that contain at least one of the keys, in the order of `fieldGroups`. */
export const groupsFromKeys = (keys: readonly ContactKey[]): readonly FieldGroup[] =>
  fieldGroupNames.filter((group) => fieldGroups[group].some((key) => keys.includes(key)));

const sortContactKeys = (keys: ReadonlySet<ContactKey>): readonly ContactKey[] => contactKeys.filter((key) => keys.has(key));

/** Encodes a scope as a number with one bit per key. The lowest bit is the first key in `contactKeys`. */
export const scopeToBits = (scope: readonly ContactKey[]): number =>
  contactKeys.reduce((bits, key, at) => (scope.includes(key) ? bits | (1 << at) : bits), 0);

export const scopeFromBits = (bits: number): readonly ContactKey[] => contactKeys.filter((_, at) => (bits & (1 << at)) !== 0);

export interface RequestedScope {
  readonly scope: readonly ContactKey[];
  /** The required keys. The person may leave out the others. */
  readonly needed: readonly ContactKey[];
}

/**
 * Parses field keys and group names. A trailing `?` makes a key or group optional. A key that appears with and without `?` is required.
 * Refuses unknown names and an empty scope.
 */
export const parseRequestedScope = (names: readonly string[]): Result<RequestedScope, "invalid_request"> => {
  const scope = new Set<ContactKey>();
  const needed = new Set<ContactKey>();
  for (const item of names) {
    const isOptional = item.endsWith("?");
    const name = isOptional ? item.slice(0, -1) : item;
    const keys = isContactKey(name) ? [name] : Object.hasOwn(fieldGroups, name) ? fieldGroups[name as FieldGroup] : [];
    if (keys.length === 0) return refuse("invalid_request", "scope: must contain only contact fields or groups.");
    for (const key of keys) {
      scope.add(key);
      if (!isOptional) needed.add(key);
    }
  }
  if (scope.size === 0) return refuse("invalid_request", "scope: must contain at least one contact field.");
  return ok({ scope: sortContactKeys(scope), needed: sortContactKeys(needed) });
};

/** A person's values, each with the time when it was set. Keys without a value are omitted. */
export type ContactFields = Readonly<Partial<Record<ContactKey, { readonly value: string; readonly updatedAt: Instant }>>>;

/** One value for each key in a scope; null if the person has none for that key. */
export type ScopedValues = Readonly<Partial<Record<ContactKey, string | null>>>;

export const filterKeysInGroup = (scope: readonly ContactKey[], group: FieldGroup): readonly ContactKey[] => {
  const members: readonly ContactKey[] = fieldGroups[group];
  return scope.filter((key) => members.includes(key));
};

/** Returns a group's values as one line, or null if there are none. */
export const formatFieldGroup = (fields: ContactFields, scope: readonly ContactKey[], group: FieldGroup): string | null => {
  const values = filterKeysInGroup(scope, group).flatMap((key) => fields[key]?.value ?? []);
  return values.length === 0 ? null : values.join(group === "name" ? " " : ", ");
};

/** Returns the fields as shown on pages, with the phone number in international form regardless of how it was typed. */
export const formatPhoneInFields = (fields: ContactFields, formatPhone: FormatPhone): ContactFields =>
  fields.phone === undefined
    ? fields
    : { ...fields, phone: { ...fields.phone, value: formatPhone(fields.phone.value, fields.country?.value ?? defaultCountry) } };

export const getScopedValues = (fields: ContactFields, scope: readonly ContactKey[]): ScopedValues =>
  Object.fromEntries(scope.map((key) => [key, fields[key]?.value ?? null]));

/**
 * Matches phone numbers without a country code, which are accepted even if they are not valid in the person's country. A search by phone
 * number does not find them.
 */
const unknownNumberPattern = /^(?:[ ()./-]*[0-9]){7,15}[ ()./-]*$/;
const maxValueLength = 200;
/** The country to assume for a phone number without a country code if the person has not given a country. */
export const defaultCountry = "US";

/** Returns the value to store; null clears the field. A refusal names the key and the broken rule. */
const parseFieldValue = (
  key: ContactKey,
  raw: string | null,
  country: string,
  toE164: ToE164,
): Result<string | null, "invalid_request"> => {
  const value = trimWhiteSpace(raw ?? "");
  if (value === "") return ok(null);
  const refuseField = (rule: string) => refuse("invalid_request", `${key}: ${rule}.`);
  const maxLength = key === "email" ? 254 : maxValueLength;
  if (value.length > maxLength) return refuseField(`must be at most ${maxLength} characters`);
  const fault = validateLine(value) ?? validateFieldKind(key, value);
  if (fault !== null) return refuseField(fault);
  if (key === "phone" && toE164(value, country) === null && !unknownNumberPattern.test(value)) return refuseField("must be a phone number");
  return ok(key === "country" ? value.toUpperCase() : value);
};

const getCountry = (current: ContactFields, change: ReadonlyMap<ContactKey, string | null>): string =>
  (trimWhiteSpace(change.get("country") ?? "") || current.country?.value || defaultCountry).toUpperCase();

/** Returns the keys with invalid values in a partial change. */
export const findInvalidKeys = (
  current: ContactFields,
  change: ReadonlyMap<ContactKey, string | null>,
  toE164: ToE164,
): readonly ContactKey[] => {
  const country = getCountry(current, change);
  return [...change].flatMap(([key, raw]) => (parseFieldValue(key, raw, country, toE164).ok ? [] : [key]));
};

export interface FieldsUpdate {
  readonly fields: ContactFields;
  readonly changedKeys: readonly ContactKey[];
}

/**
 * Applies a partial change. A value that is equal after trimming counts as unchanged. If one value is invalid, the whole change is refused.
 */
export const applyFieldChanges = (
  current: ContactFields,
  change: ReadonlyMap<ContactKey, string | null>,
  now: Instant,
  toE164: ToE164,
): Result<FieldsUpdate, "invalid_request"> => {
  const country = getCountry(current, change);
  const fields: Partial<Record<ContactKey, { value: string; updatedAt: Instant }>> = { ...current };
  const changed: ContactKey[] = [];
  for (const [key, raw] of change) {
    const parsed = parseFieldValue(key, raw, country, toE164);
    if (!parsed.ok) return parsed;
    if (parsed.value === (current[key]?.value ?? null)) continue;
    changed.push(key);
    if (parsed.value === null) delete fields[key];
    else fields[key] = { value: parsed.value, updatedAt: now };
  }
  return ok({ fields, changedKeys: contactKeys.filter((key) => changed.includes(key)) });
};

/** The blind indexes of the shared email address and phone number; null for a value that is not shared. */
export interface ContactIndexes {
  readonly email: AddressIndex | null;
  readonly phone: AddressIndex | null;
  /** True if the person signs in with this email address, which proves that its owner made the share. */
  readonly isEmailProven: boolean;
}
