// The API client for Node, Deno, Bun and Workers. It wraps the generated operations in kit/api.gen.ts: it unwraps responses, returns errors
// as values, retries a POST with the same idempotency key, and honors `Retry-After` unless the wait is too long. Use it only on servers,
// because a web page must not contain an API key.
import {
  createClient,
  defaultRetryOn,
  OPERATIONS,
  TimeoutError,
  type Client,
  type Failure,
  type OperationDescriptor,
  type Ops,
  type RequestContext,
  type RetryContext,
} from "./api.gen.ts";

export type * from "./api.gen.ts";

export interface SvcOptions {
  /** The base URL of the service, such as `https://api.example.com`, with or without `/v1`. */
  readonly baseUrl: string;
  /** The API key: `sk_live_…` or `sk_test_…`. Without a key, only public operations work. */
  readonly apiKey?: string;
  /**
   * The number of retries after a network failure, while the service is busy, or while an earlier attempt is still in progress. The default
   * is 2. A call is not retried if it could take effect twice.
   */
  readonly retries?: number;
  /**
   * The longest `Retry-After` to wait for, in seconds. The default is 30. If the service asks for a longer wait, the client returns the
   * error.
   */
  readonly patienceSeconds?: number;
  /** Timeout per attempt in milliseconds. The default is 15,000. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export type Svc = { readonly [Name in keyof Ops]: Client<Ops>[Name] };

/** Errors that this client returns in addition to the service's errors. */
const unreachableFailure: Failure = { code: "unreachable", message: "The service did not answer." };
const unexpectedResponseFailure: Failure = { code: "unexpected_answer", message: "The response did not come from the service." };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** Creates a response that replaces one that was cut off, or one that came from a proxy or captive portal. */
const createBadGatewayResponse = (): Response => new Response(null, { status: 502 });

const fileOperations: ReadonlySet<string> = new Set(["exportEvidencePack"]);

/** Returns a response whose body is the `data` of a success or the `error` of a refusal. JSON without an envelope stays unchanged. */
const unwrapEnvelope = async (response: Response, { operation }: RequestContext): Promise<Response> => {
  if (!(response.headers.get("content-type") ?? "").includes("json")) {
    return !response.ok || fileOperations.has(operation.id) ? response : createBadGatewayResponse();
  }
  const text = await response.text();
  const { status, statusText, headers } = response;
  try {
    const body: unknown = JSON.parse(text);
    const isEnvelope = isObject(body) && "request_id" in body && "ok" in body;
    const content = isEnvelope ? (body.ok === true ? body.data : body.error) : body;
    return new Response(JSON.stringify(content), { status, statusText, headers });
  } catch {
    return response.ok ? createBadGatewayResponse() : new Response(null, { status, statusText });
  }
};

const operations: Readonly<Record<string, OperationDescriptor>> = OPERATIONS;

/** Returns true for a POST operation without an Idempotency-Key parameter, because a retry could make it take effect twice. */
const isUnsafeToRetry = ({ request }: RetryContext): boolean =>
  request.method === "POST" && !(operations[request.operation.id]?.params ?? []).some(({ name }) => name === "Idempotency-Key");

/** Returns true if the service is still processing an earlier request with the same idempotency key and body. */
const isInProgress = ({ response }: RetryContext): boolean => response?.status === 409 && response.headers.has("retry-after");

const toFailure = (error: unknown): Failure =>
  isObject(error) && typeof error.code === "string" && typeof error.message === "string"
    ? { code: error.code, message: error.message }
    : unexpectedResponseFailure;

type ClientCall = (args?: object, init?: object) => Promise<{ readonly error: unknown; readonly response: Response }>;

/** Returns network failures and timeouts as `unreachable`. Throws only if the caller aborted the call. */
const withErrorsAsValues =
  (call: ClientCall): ClientCall =>
  async (args, init) => {
    try {
      const result = await call(args, init);
      return result.response.ok ? result : { ...result, error: toFailure(result.error) };
    } catch (error) {
      const isTimeout = error instanceof TimeoutError || (error instanceof DOMException && error.name === "TimeoutError");
      if (!isTimeout && !(error instanceof TypeError)) throw error;
      return { data: undefined, error: unreachableFailure, response: Response.error() };
    }
  };

/** Creates a client. Its functions are named after the operation IDs. They resolve to an object with `data` or `error`. */
export const createSvc = ({
  baseUrl,
  apiKey,
  retries = 2,
  patienceSeconds = 30,
  timeoutMs = 15_000,
  fetch: customFetch,
}: SvcOptions): Svc => {
  const client = createClient<Ops>(OPERATIONS, {
    serverUrl: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    errorMode: "result",
    clientHeader: false,
    idempotencyKey: true,
    timeout: timeoutMs,
    retry: {
      retries,
      retryDelay: 500,
      retryOn: (attempt) => {
        if (Number(attempt.response?.headers.get("retry-after") ?? 0) > patienceSeconds) return false;
        if (attempt.response?.status === 429) return true; // a call that was refused with 429 did not take effect
        if (isUnsafeToRetry(attempt)) return false;
        return defaultRetryOn(attempt) || isInProgress(attempt);
      },
    },
    onResponse: unwrapEnvelope,
    ...(customFetch !== undefined && { fetch: customFetch }),
    ...(apiKey !== undefined && { auth: { bearer: apiKey } }),
  });
  const calls = client as unknown as Readonly<Record<string, ClientCall>>;
  return Object.fromEntries(Object.keys(OPERATIONS).map((name) => [name, withErrorsAsValues(calls[name] as ClientCall)])) as unknown as Svc;
};

type QueryOf<Name extends keyof Ops> = Ops[Name]["args"] extends { query?: infer Query } ? NonNullable<Query> : never;
type PageOf<Name extends keyof Ops> = NonNullable<Ops[Name]["result"]["data"]>;

/** For each list that `pagesOf` supports, returns the query for the next page, or null after the last page. */
const nextPageQueries = {
  listEvents: (page: PageOf<"listEvents">) => (page.has_more ? { cursor: page.next_cursor } : null),
  listShares: (page: PageOf<"listShares">) => (page.has_more ? { starting_after: page.shares.at(-1)?.id } : null),
  // Only the newest certificates can be listed, so the last page may come before `total` is reached.
  listCertificates: (page: PageOf<"listCertificates">) =>
    page.certs.length > 0 && page.page * page.per_page < page.total ? { page: page.page + 1 } : null,
};

/**
 * Yields every page of a list, as the list operation returns it. If a call fails, yields its error and ends. The pages of
 * `listCertificates` are numbered, so changes between two calls shift them. If a certificate is issued, another one is repeated. With the
 * filter `status`, a withdrawal can cause another certificate to be skipped. To avoid both, set `to` to the current time and leave out
 * `status`.
 */
export async function* pagesOf<Name extends keyof typeof nextPageQueries>(
  svc: Svc,
  name: Name,
  query?: QueryOf<Name>,
): AsyncGenerator<Ops[Name]["result"]> {
  const list = svc[name] as (args: { readonly query: object }) => Promise<Ops[Name]["result"]>;
  const getNextQuery = nextPageQueries[name] as (page: unknown) => object | null;
  for (let pageQuery: object | null = {}; pageQuery !== null; ) {
    const result = await list({ query: { ...query, ...pageQuery } });
    yield result;
    pageQuery = result.error === undefined ? getNextQuery(result.data) : null;
  }
}
