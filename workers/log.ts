// One structured line a request. Only what this type names can be logged, so nothing personal can: no address, no body,
// no header, no query, and a path only as its route template.

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
}

export interface FaultLine {
  readonly request_id?: string;
  /** Where it happened: a constant. */
  readonly at: string;
  readonly error: string;
}

/** An error and what caused it, outermost first: the mapper wraps what the database said. */
const causesOf = (error: unknown): readonly Error[] => (error instanceof Error ? [error, ...causesOf(error.cause)] : []);

/** Whether it, or what caused it, says so. */
export const saysError = (error: unknown, pattern: RegExp): boolean => causesOf(error).some(({ message }) => pattern.test(message));

/** Error texts of storage can quote statements and values; only their kind is kept. */
export const kindOfError = (error: unknown): string => {
  const causes = causesOf(error);
  const innermost = causes.at(-1);
  if (innermost === undefined) return "unknown";
  const constraint = causes.map(({ message }) => /SQLITE_[A-Z_]+/.exec(message)?.[0]).find((code) => code !== undefined);
  return constraint === undefined ? innermost.name : `${innermost.name} ${constraint}`;
};

export interface Log {
  readonly request: (line: RequestLine) => void;
  readonly fault: (line: FaultLine) => void;
}

export const consoleLog: Log = {
  request: (line) => console.log(JSON.stringify({ level: "info", ...line })),
  fault: (line) => console.error(JSON.stringify({ level: "error", ...line })),
};
