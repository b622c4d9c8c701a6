// Structured log lines for requests, errors, progress and metrics. To keep personal data out, only the fields below can be logged.
// Addresses, bodies, headers and queries are never logged, and paths are logged only as route templates.
import type { AlertKind } from "../core/alerts.ts";
import { findStorageFault } from "../storage/faults.ts";

export interface RequestLine {
  readonly request_id: string;
  readonly method: string;
  /** The route template, such as `/v1/certs/:cert_id`. Never the requested path. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly code?: string;
  readonly business_id?: string;
  readonly key_id?: string;
  readonly token_id?: string;
}

export interface ErrorLine {
  readonly request_id?: string;
  /** A constant name for the place where the error occurred. */
  readonly at: string;
  readonly error: string;
}

export interface ProgressLine {
  /** A constant name for the kind of work. */
  readonly at: string;
  readonly shard: string;
  readonly done: number;
  readonly left: number;
  /** The due time of the oldest remaining item, in ISO 8601 format. */
  readonly oldest_due: string | null;
}

export interface MetricLine {
  readonly metric: "shard_bytes" | AlertKind;
  /** `all` if the value describes the whole deployment. */
  readonly shard: string;
  readonly value: number;
}

/** Returns the kind of an error for the log. Leaves out the message, which can quote SQL and values. */
export const getErrorKind = (error: unknown): string => {
  const fault = findStorageFault(error);
  if (fault !== null) return `StorageFault ${fault.kind}${fault.code === null ? "" : ` ${fault.code}`}`;
  if (!(error instanceof Error)) return "unknown";
  return error.cause instanceof Error ? getErrorKind(error.cause) : error.name;
};

export interface Log {
  readonly request: (line: RequestLine) => void;
  readonly error: (line: ErrorLine) => void;
  readonly progress: (line: ProgressLine) => void;
  readonly metric: (line: MetricLine) => void;
}

/** Runs a task that nothing else depends on. If the task throws, logs the error's kind and returns undefined. */
export const runIsolated = async <T>({ log }: { readonly log: Log }, at: string, work: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await work();
  } catch (error) {
    log.error({ at, error: getErrorKind(error) });
    return undefined;
  }
};

export const consoleLog: Log = {
  request: (line) => console.log(JSON.stringify({ level: "info", ...line })),
  error: (line) => console.error(JSON.stringify({ level: "error", ...line })),
  progress: (line) => console.log(JSON.stringify({ level: "info", ...line })),
  metric: (line) => console.log(JSON.stringify({ level: "info", ...line })),
};
