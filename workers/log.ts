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

/** Error texts of storage can quote values; only their kind is kept. */
export const kindOfError = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  const constraint = /SQLITE_[A-Z_]+/.exec(error.message)?.[0];
  return constraint === undefined ? error.name : `${error.name} ${constraint}`;
};

export interface Log {
  readonly request: (line: RequestLine) => void;
  readonly fault: (line: FaultLine) => void;
}

export const consoleLog: Log = {
  request: (line) => console.log(JSON.stringify({ level: "info", ...line })),
  fault: (line) => console.error(JSON.stringify({ level: "error", ...line })),
};
