// Validates the content of a submission before anything is looked up. People can type anything into a field, so a submission is never
// refused because of the characters in a field. recognized-fields.ts decides which fields can be used for lookups.
import { validatePageUrl } from "../access/origins.ts";
import { ok, refuse, type Result } from "../result.ts";
import { replaceRefusedCharacters, validateLine, validateMultilineText, trimWhiteSpace } from "../text.ts";
import type { Submission } from "./certificate.ts";
import { maxEntityLength, normalizeRecipientName, type Recipients } from "./recipients.ts";
import type { SubjectFields } from "./subject.ts";

const maxFields = 20;
const maxValueLength = 500;
const keyPattern = /^[a-z][a-z0-9_]{0,39}$/;
const objectPrototypeNames: ReadonlySet<string> = new Set([...Object.getOwnPropertyNames(Object.prototype), "prototype"]);

export interface ParsedFields {
  readonly fields: SubjectFields;
  /** True if characters that cannot be stored were replaced. */
  readonly isReplaced: boolean;
}

/**
 * Parses the fields of a submission. Accepts 1 to 20 fields with values of at most 500 characters. At least one value must not be empty. A
 * null value counts as missing. Characters that cannot be stored become U+FFFD. Refuses with `invalid_request`.
 */
export const parseSubjectFields = (input: object): Result<ParsedFields, "invalid_request"> => {
  const entries = Object.entries(input);
  if (entries.length < 1 || entries.length > maxFields) return refuse("invalid_request", "fields: must contain 1 to 20 entries.");
  const fields = new Map<string, string>();
  let isReplaced = false;
  for (const [key, raw] of entries) {
    if (!keyPattern.test(key) || objectPrototypeNames.has(key))
      return refuse(
        "invalid_request",
        "fields: each key must be 1 to 40 lowercase letters, digits and underscores, start with a letter, and not be reserved.",
      );
    if (raw === null) continue;
    if (typeof raw !== "string") return refuse("invalid_request", "fields: each value must be a string.");
    const value = trimWhiteSpace(raw);
    if (value.length > maxValueLength) return refuse("invalid_request", "fields: each value must be at most 500 characters.");
    const storable = replaceRefusedCharacters(value);
    isReplaced ||= storable !== value;
    fields.set(key, storable);
  }
  if ([...fields.values()].every((value) => value === ""))
    return refuse("invalid_request", "fields: at least one value must not be empty.");
  return ok({ fields, isReplaced });
};

export const maxEntities = 1_000; // enough for any lead form

const parseDeclaredEntities = (names: readonly string[]): Result<Map<string, string>, "invalid_request"> => {
  if (names.length < 1 || names.length > maxEntities) return refuse("invalid_request", "entities: must contain 1 to 1,000 names.");
  const byComparable = new Map<string, string>();
  for (const raw of names) {
    const name = trimWhiteSpace(raw);
    if (name === "") return refuse("invalid_request", "entities: each name must not be empty.");
    if (name.length > maxEntityLength) return refuse("invalid_request", "entities: each name must be at most 200 characters.");
    const fault = validateLine(name);
    if (fault !== null) return refuse("invalid_request", `entities: each name ${fault}.`);
    const key = normalizeRecipientName(name);
    if (!byComparable.has(key)) byComparable.set(key, name); // if several spellings are equal, keep the first one
  }
  return ok(byComparable);
};

/** Returns the names in `recipients` as the form declared them. Drops names that the form did not declare. */
const filterDeclared = (recipients: readonly string[], names: ReadonlyMap<string, string>): string[] =>
  [...new Set(recipients.flatMap((recipient) => names.get(normalizeRecipientName(recipient)) ?? []))].sort();

/**
 * Parses the recipients and the person's answers. Accepts 1 to 1,000 recipients. Either both answer lists must be present or neither, and
 * no name may be in both. Refuses with `invalid_request`.
 */
export const parseRecipients = (input: {
  readonly entities: readonly string[];
  readonly accepted: readonly string[] | undefined;
  readonly rejected: readonly string[] | undefined;
}): Result<Recipients, "invalid_request"> => {
  const names = parseDeclaredEntities(input.entities);
  if (!names.ok) return names;
  const entities = [...names.value.values()].sort();
  if (input.accepted === undefined && input.rejected === undefined) return ok({ entities });
  if (input.accepted === undefined || input.rejected === undefined) {
    return refuse("invalid_request", "entities_accepted and entities_rejected: must be sent together. Send both or neither.");
  }
  const accepted = filterDeclared(input.accepted, names.value);
  const rejected = filterDeclared(input.rejected, names.value);
  if (accepted.some((name) => rejected.includes(name))) {
    return refuse("invalid_request", "entities_accepted and entities_rejected: must not contain the same name.");
  }
  return ok({ entities, answered: { accepted, rejected } });
};

export const maxDisclosureLength = 200_000; // enough for 1,000 recipient names of 200 characters each
const maxPurposeLength = 500;

export interface ParsedSubmission {
  readonly fields: SubjectFields;
  /** True if characters in a field could not be stored and were replaced. */
  readonly isReplaced: boolean;
  readonly recipients: Recipients;
  readonly purpose: string;
}

/** Validates a submission. Refuses with `invalid_request`. The message contains the field and the rule. */
export const parseSubmission = (submission: Submission): Result<ParsedSubmission, "invalid_request"> => {
  const fields = parseSubjectFields(submission.fields);
  if (!fields.ok) return fields;
  const recipients = parseRecipients({
    entities: submission.entities,
    accepted: submission.entitiesAccepted,
    rejected: submission.entitiesRejected,
  });
  if (!recipients.ok) return recipients;

  if (submission.disclosureText.length > maxDisclosureLength)
    return refuse("invalid_request", "disclosure_text: must be at most 200,000 characters.");
  const disclosureFault = validateMultilineText(submission.disclosureText);
  if (disclosureFault !== null) return refuse("invalid_request", `disclosure_text: ${disclosureFault}.`);

  const purpose = trimWhiteSpace(submission.purpose);
  if (purpose === "") return refuse("invalid_request", "purpose: must not be empty.");
  if (purpose.length > maxPurposeLength) return refuse("invalid_request", "purpose: must be at most 500 characters.");
  const purposeFault = validateLine(purpose);
  if (purposeFault !== null) return refuse("invalid_request", `purpose: ${purposeFault}.`);

  const urlFault = validatePageUrl(submission.pageUrl);
  if (urlFault !== null) return refuse("invalid_request", `page_url: ${urlFault}.`);
  return ok({ ...fields.value, recipients: recipients.value, purpose });
};
