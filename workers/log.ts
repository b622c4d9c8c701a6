// One structured line a request, a fault, and a step of long work. Only what this type names can be logged, so nothing personal can: no address, no body,
// no header, no query, and a path only as its route template.
import { findStorageFault } from "../storage/faults.ts";

export interface RequestLine {
  readonly request_id: string;
  readonly method: string;
  /** The template, e.g. `/v1/certs/{cert_id}`; never the path itself. */
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
  /** Where it happened: a constant. */
  readonly at: string;
  readonly error: string;
}

/** How far long work has come. */
export interface ProgressLine {
  /** What is worked on: a constant. */
  readonly at: string;
  readonly shard: string;
  readonly done: number;
  readonly left: number;
  /** Since when the oldest of what is left is due. */
  readonly oldest_due: string | null;
}

/** A number that somebody watches over time. */
export interface MetricLine {
  readonly metric: "shard_bytes";
  readonly shard: string;
  readonly value: number;
}

/** Texts of errors can quote statements and values; only their kind is kept. */
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

/** Work that nothing else depends on: where it throws, the log tells of what kind, and it comes to nothing. */
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
