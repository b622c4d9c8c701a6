// Translates the errors of all stores into StorageFault. The original errors and their messages never leave this file, because the messages
// can contain SQL statements and personal data.
import { getColumnTable, getTableName, type Column } from "drizzle-orm";

/**
 * - `outage`: the store was unreachable or did not respond in time. The change may have been written.
 * - `constraint`: the database rejected the rows, and nothing was written.
 * - `bug`: the statement is invalid.
 */
type FaultKind = "outage" | "constraint" | "bug";

/** The messages of triggers, exactly as in d1-migrations. */
const triggerMessages = [
  "a certificate can be revoked only once, by a withdrawal",
  "a withdrawal cannot be dated before an earlier one",
  "policies can be linked to a certificate only once",
  "the person of a certificate can be erased only once and only completely",
  "a business must have an owner",
  "a share cannot return to an earlier state",
  "the issuing shards of an account must be held while it changes",
] as const;
type TriggerMessage = (typeof triggerMessages)[number];

export class StorageFault extends Error {
  readonly kind: FaultKind;
  /** The database's error code, such as `SQLITE_BUSY`, or one of our own, such as `NO_ANSWER`. */
  readonly code: string | null;
  /** The violated constraint, such as `UNIQUE idempotent_responses.key_hash`, or a trigger's message. */
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

const foreignKeyMessage = "FOREIGN KEY constraint failed"; // SQLite does not name the columns in this message

const parseViolation = (message: string): string | null => {
  const [, kind, columns] = constraintPattern.exec(message) ?? [];
  if (columns !== undefined) return `${kind} ${columns}`;
  if (message.includes(foreignKeyMessage)) return foreignKeyMessage;
  return triggerMessages.find((text) => message.includes(text)) ?? null;
};

const toStorageFault = (error: unknown): StorageFault => {
  if (error instanceof StorageFault) return error;
  // Drizzle wraps the fault of a single statement in its own error.
  const inner = error instanceof Error ? findStorageFault(error.cause) : null;
  if (inner !== null) return inner;
  const { name, message } = error instanceof Error ? error : new Error();
  const code = /\b(?:SQLITE|D1)_[A-Z_]+/.exec(message.replace("D1_ERROR", ""))?.[0] ?? null;
  if (message.includes("constraint failed") || code?.startsWith("SQLITE_CONSTRAINT") === true)
    return new StorageFault("constraint", code, parseViolation(message));
  const isBug = bugErrorNames.includes(name) || bugPattern.test(message);
  return new StorageFault(isBug ? "bug" : "outage", code);
};

/** Calls a store. Converts everything that the call throws or rejects with into a StorageFault. */
export const translateFaults = <T>(call: () => T): T => {
  const fail = (error: unknown): never => {
    throw toStorageFault(error);
  };
  try {
    const result = call();
    return result instanceof Promise ? (result.catch(fail) as T) : result;
  } catch (error) {
    return fail(error);
  }
};

/**
 * Matches the message of a StorageFault. An error from a Durable Object reaches its caller as a plain Error, so only the message identifies
 * it.
 */
const faultMessagePattern = /\bstorage (outage|constraint|bug)\b/;
/** Matches the platform's messages about a Durable Object that is unreachable or was interrupted. */
const platformOutagePattern = /Network connection lost|overloaded|reset because|object to be reset/;

/**
 * Returns the storage fault behind an error: the error itself, its cause, or a fault that its message or properties (`retryable`,
 * `overloaded`) describe. Returns null for any other error.
 */
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

/** Returns true if a change violated the UNIQUE constraint on exactly these columns, or the NOT NULL constraint on this column. */
export const isConstraintViolation = (error: unknown, kind: "UNIQUE" | "NOT NULL", ...columns: readonly Column[]): boolean => {
  const names = columns.map((column) => `${getTableName(getColumnTable(column))}.${column.name}`);
  return findStorageFault(error)?.violation === `${kind} ${names.join(", ")}`;
};

export const isTriggerError = (error: unknown, message: TriggerMessage): boolean => findStorageFault(error)?.violation === message;

export const isForeignKeyViolation = (error: unknown): boolean => findStorageFault(error)?.violation === foreignKeyMessage;
