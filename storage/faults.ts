// Translates the errors of all stores into one type. Only this file reads driver and platform errors. Their text can contain statements and
// values, so neither the text nor the original error leaves this file.
import { getColumnTable, getTableName, type Column } from "drizzle-orm";

/**
 * The kinds of faults:
 * - outage: the store was unreachable or did not respond in time. It is unknown whether the change was written. The same request can be
 *   sent again with the same idempotency key.
 * - constraint: the database rejected the rows, and nothing was written. The caller checks which constraint failed.
 * - bug: the statement is invalid.
 */
type FaultKind = "outage" | "constraint" | "bug";

/** Trigger messages for `isTriggerError`. They must match the text in d1-migrations. */
const triggerMessages = [
  "a certificate can be revoked only once, by a withdrawal",
  "policies can be linked to a certificate only once",
  "the person of a certificate can be erased only once and only completely",
  "a business must have an owner",
  "a share cannot return to an earlier state",
  "the issuing shards of an account must be held while it changes",
] as const;
type TriggerMessage = (typeof triggerMessages)[number];

export class StorageFault extends Error {
  readonly kind: FaultKind;
  /** The database's error code, such as `SQLITE_BUSY`. */
  readonly code: string | null;
  /** The violated constraint, such as `UNIQUE idempotent_responses.key_hash`, or a trigger message. */
  readonly violation: string | null;

  constructor(kind: FaultKind, code: string | null = null, violation: string | null = null) {
    super(`storage ${kind}${code === null ? "" : ` ${code}`}`);
    this.name = "StorageFault";
    this.kind = kind;
    this.code = code;
    this.violation = violation;
  }
}

const bugErrorNames = ["TypeError", "ReferenceError", "RangeError", "SyntaxError"];
const bugPattern =
  /SQLITE_(?:ERROR|MISMATCH|RANGE|MISUSE|TOOBIG|AUTH)\b|no such (?:table|column)|syntax error|D1_(?:TYPE|EXEC|COLUMN_NOTFOUND)/;
const columnPattern = "[a-z_0-9]+\\.[a-z_0-9]+";
const constraintPattern = new RegExp(`(UNIQUE|NOT NULL) constraint failed: (${columnPattern}(?:, ${columnPattern})*)`);

const foreignKeyMessage = "FOREIGN KEY constraint failed"; // the message contains no column name

const parseViolation = (message: string): string | null => {
  const [, kind, columns] = constraintPattern.exec(message) ?? [];
  if (columns !== undefined) return `${kind} ${columns}`;
  if (message.includes(foreignKeyMessage)) return foreignKeyMessage;
  return triggerMessages.find((text) => message.includes(text)) ?? null;
};

const toStorageFault = (error: unknown): StorageFault => {
  if (error instanceof StorageFault) return error;
  const inner = error instanceof Error ? findStorageFault(error.cause) : null; // drizzle wraps the faults of individual statements
  if (inner !== null) return inner;
  const { name, message } = error instanceof Error ? error : new Error();
  const code = /\b(?:SQLITE|D1)_[A-Z_]+/.exec(message.replace("D1_ERROR", ""))?.[0] ?? null;
  if (message.includes("constraint failed") || code?.startsWith("SQLITE_CONSTRAINT") === true)
    return new StorageFault("constraint", code, parseViolation(message));
  const isBug = bugErrorNames.includes(name) || bugPattern.test(message);
  return new StorageFault(isBug ? "bug" : "outage", code);
};

/** Calls a store. Converts everything that the store throws or rejects with to a StorageFault. */
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

/** Recognizes a StorageFault by its message after the error has passed from a Durable Object to its caller. */
const faultMessagePattern = /\bstorage (outage|constraint|bug)\b/;
/** Recognizes the platform's error messages for a Durable Object that is unreachable or was interrupted. */
const platformOutagePattern = /Network connection lost|overloaded|reset because|object to be reset/;

/** Finds the storage fault behind an error, even if the error wraps it. Returns null for any other error. */
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

/** Returns true if a change failed because these columns' values were already taken (UNIQUE) or one of them was missing (NOT NULL). */
export const isConstraintViolation = (error: unknown, kind: "UNIQUE" | "NOT NULL", ...columns: readonly Column[]): boolean => {
  const names = columns.map((column) => `${getTableName(getColumnTable(column))}.${column.name}`);
  return findStorageFault(error)?.violation === `${kind} ${names.join(", ")}`;
};

/** Returns true if a trigger rejected a change with this message. */
export const isTriggerError = (error: unknown, message: TriggerMessage): boolean => findStorageFault(error)?.violation === message;

/** Returns true if a change failed because a row refers to a row that does not exist. */
export const isForeignKeyViolation = (error: unknown): boolean => findStorageFault(error)?.violation === foreignKeyMessage;
