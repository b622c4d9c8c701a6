// The recipients a certificate names, and what the visitor answered for each (SPEC, Certificate, per-recipient rules).
// "Asked and declined nobody" and "never asked" are different facts: both lists are present, or neither is.
import { ok, refuse, type Result } from "../result.ts";
import { lineFault, trimmed } from "../text.ts";

export interface Recipients {
  /** Unique, sorted by UTF-16 code unit: the order the fingerprint binds. */
  readonly entities: readonly string[];
  /** Present only when the form asked recipient by recipient. */
  readonly answered?: { readonly accepted: readonly string[]; readonly rejected: readonly string[] };
}

const maxEntities = 1_000; // what one lead form of the industry can list
const maxEntityLength = 200;

/** Names are compared in NFC, so that two spellings of one name are one recipient; they are stored as declared. */
export const comparableName = (name: string): string => trimmed(name).normalize("NFC");

const declared = (names: readonly string[]): Result<Map<string, string>, "invalid_request"> => {
  if (names.length < 1 || names.length > maxEntities) return refuse("invalid_request", "entities: must name 1 to 1,000 recipients.");
  const byComparable = new Map<string, string>();
  for (const raw of names) {
    const name = trimmed(raw);
    if (name === "") return refuse("invalid_request", "entities: a name is empty.");
    if (name.length > maxEntityLength) return refuse("invalid_request", "entities: a name is longer than 200 characters.");
    const fault = lineFault(name);
    if (fault !== null) return refuse("invalid_request", `entities: a name ${fault}.`);
    const key = comparableName(name);
    if (!byComparable.has(key)) byComparable.set(key, name); // the first spelling stays
  }
  return ok(byComparable);
};

/** Declared spellings of the names in `answers`; names that were not declared are dropped, as for the checkbox. */
const amongDeclared = (answers: readonly string[], names: ReadonlyMap<string, string>): string[] =>
  [...new Set(answers.flatMap((answer) => names.get(comparableName(answer)) ?? []))].sort();

export const recipientsOf = (input: {
  readonly entities: readonly string[];
  readonly accepted: readonly string[] | undefined;
  readonly rejected: readonly string[] | undefined;
}): Result<Recipients, "invalid_request"> => {
  const names = declared(input.entities);
  if (!names.ok) return names;
  const entities = [...names.value.values()].sort();
  if (input.accepted === undefined && input.rejected === undefined) return ok({ entities });
  if (input.accepted === undefined || input.rejected === undefined) {
    return refuse("invalid_request", "entities_accepted and entities_rejected: send both or neither.");
  }
  const accepted = amongDeclared(input.accepted, names.value);
  const rejected = amongDeclared(input.rejected, names.value);
  if (accepted.some((name) => rejected.includes(name))) {
    return refuse("invalid_request", "entities_accepted and entities_rejected: a name stands in both.");
  }
  return ok({ entities, answered: { accepted, rejected } });
};
