// What can go wrong with a store, as a type. The errors of the driver and of the platform are read here and nowhere else; what
// they say can quote statements and values, so neither their words nor they themselves travel on.
import { getColumnTable, getTableName, type Column } from "drizzle-orm";

/**
 * - outage: the store could not be asked, or did not answer in time. Whether a change was written is not known; the same request can be
 *   sent again under the same idempotency key.
 * - constraint: the database refused the rows. Nothing was written; whoever caused it on purpose asks which one it was.
 * - bug: the store was asked something it does not understand.
 */
type FaultKind = "outage" | "constraint" | "bug";

/** The words of triggers that somebody asks for; as in d1-migrations. */
const triggerMessages = [
  "a certificate is revoked once, by a withdrawal",
  "policies are linked once",
  "the person of a certificate is erased once, as a whole",
  "a business keeps an owner",
  "a share does not go back",
] as const;
type TriggerMessage = (typeof triggerMessages)[number];

export class StorageFault extends Error {
  readonly kind: FaultKind;
  /** The database's name for it, e.g. `SQLITE_BUSY`. */
  readonly code: string | null;
  /** Which constraint, e.g. `UNIQUE idempotency.key_hash`, or the words of a trigger. */
  readonly violation: string | null;

  constructor(kind: FaultKind, code: string | null = null, violated: string | null = null) {
    super(`storage ${kind}${code === null ? "" : ` ${code}`}`);
    this.name = "StorageFault";
    this.kind = kind;
    this.code = code;
    this.violation = violated;
  }
}

const bugErrorNames = ["TypeError", "ReferenceError", "RangeError", "SyntaxError"];
const bugPattern =
  /SQLITE_(?:ERROR|MISMATCH|RANGE|MISUSE|TOOBIG|AUTH)\b|no such (?:table|column)|syntax error|D1_(?:TYPE|EXEC|COLUMN_NOTFOUND)/;
const columnPattern = "[a-z_0-9]+\\.[a-z_0-9]+";
const constraintPattern = new RegExp(`(UNIQUE|NOT NULL) constraint failed: (${columnPattern}(?:, ${columnPattern})*)`);

const parseViolation = (message: string): string | null => {
  const [, kind, columns] = constraintPattern.exec(message) ?? [];
  if (columns !== undefined) return `${kind} ${columns}`;
  return triggerMessages.find((words) => message.includes(words)) ?? null;
};

const toStorageFault = (error: unknown): StorageFault => {
  if (error instanceof StorageFault) return error;
  const { name, message } = error instanceof Error ? error : new Error();
  const code = /\b(?:SQLITE|D1)_[A-Z_]+/.exec(message.replace("D1_ERROR", ""))?.[0] ?? null;
  if (message.includes("constraint failed") || code?.startsWith("SQLITE_CONSTRAINT") === true)
    return new StorageFault("constraint", code, parseViolation(message));
  const isBug = bugErrorNames.includes(name) || bugPattern.test(message);
  return new StorageFault(isBug ? "bug" : "outage", code);
};

/** A call to a store; whatever it throws, at once or later, is a StorageFault. */
export const translateFaults = <T>(call: () => T): T => {
  const fail = (error: unknown): never => {
    throw toStorageFault(error);
  };
  try {
    const answer = call();
    return answer instanceof Promise ? (answer.catch(fail) as T) : answer;
  } catch (error) {
    return fail(error);
  }
};

/** A fault of ours, as its message crosses from an object to its caller. */
const faultMessagePattern = /\bstorage (outage|constraint|bug)\b/;
/** What the platform says when an object cannot be reached or was interrupted. */
const platformOutagePattern = /Network connection lost|overloaded|reset because|object to be reset/;

/** The fault of a store or an object behind an error, whatever wrapped it; null for every other error. */
export const findStorageFault = (error: unknown): StorageFault | null => {
  if (!(error instanceof Error)) return null;
  if (error instanceof StorageFault) return error;
  const inner = findStorageFault(error.cause);
  if (inner !== null) return inner;
  const kind = faultMessagePattern.exec(error.message)?.[1];
  if (kind !== undefined) return new StorageFault(kind as FaultKind);
  const { retryable, overloaded } = error as { readonly retryable?: boolean; readonly overloaded?: boolean };
  return retryable === true || overloaded === true || platformOutagePattern.test(error.message) ? new StorageFault("outage") : null;
};

/** Whether a change failed because one of these columns was taken (UNIQUE) or missing (NOT NULL). */
export const isConstraintViolation = (error: unknown, kind: "UNIQUE" | "NOT NULL", ...columns: readonly Column[]): boolean => {
  const names = columns.map((column) => `${getTableName(getColumnTable(column))}.${column.name}`);
  return findStorageFault(error)?.violation === `${kind} ${names.join(", ")}`;
};

/** Whether a trigger refused a change with these words. */
export const isTriggerError = (error: unknown, words: TriggerMessage): boolean => findStorageFault(error)?.violation === words;
