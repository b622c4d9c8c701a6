// The client of the API for Node, Deno, Bun and Workers: the operations of kit/api.gen.ts, which is generated from the description,
// with what this API promises: answers without their envelope, refusals as values, a POST that is sent again under its own key, and
// waits as long as the service says. Nothing here runs in a page: an API key belongs on a server.
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
  /** `https://api.example.com`; with or without `/v1`. */
  readonly baseUrl: string;
  /** `sk_live_…` or `sk_test_…`. Without one, what is open to anyone. */
  readonly apiKey?: string;
  /** How often a call is sent again that found nobody, or a service that is busy; 2. Never one that could happen twice. */
  readonly retries?: number;
  /** The longest wait that is waited for, in seconds; 30. What asks for more comes back as the refusal it is. */
  readonly patienceSeconds?: number;
  /** For one try, in milliseconds; 15,000. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

export type Svc = { readonly [Name in keyof Ops]: Client<Ops>[Name] };

/** Codes of this client's own, beside the closed list of the service. */
const unreachableFailure: Failure = { code: "unreachable", message: "The service did not answer." };
const unexpectedResponseFailure: Failure = { code: "unexpected_answer", message: "The answer was not the service's." };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

/** In the place of what a network on the way said, or of half an answer. */
const createBadGatewayResponse = (): Response => new Response(null, { status: 502 });

/** A file, where the caller asked for one. */
const fileOperations: ReadonlySet<string> = new Set(["exportEvidencePack"]);

/** `data` of what went well, `error` of what was refused; JSON without an envelope as it is. */
const unwrapEnvelope = async (response: Response, { operation }: RequestContext): Promise<Response> => {
  if (!(response.headers.get("content-type") ?? "").includes("json")) {
    return !response.ok || fileOperations.has(operation.id) ? response : createBadGatewayResponse();
  }
  const text = await response.text();
  const { status, statusText, headers } = response;
  try {
    const body: unknown = JSON.parse(text);
    const isEnvelope = isObject(body) && "request_id" in body && "ok" in body;
    const bare = isEnvelope ? (body.ok === true ? body.data : body.error) : body;
    return new Response(JSON.stringify(bare), { status, statusText, headers });
  } catch {
    return response.ok ? createBadGatewayResponse() : new Response(null, { status, statusText });
  }
};

const operations: Readonly<Record<string, OperationDescriptor>> = OPERATIONS;

/** A POST that takes no key of its own might happen twice. */
const isUnsafeToRetry = ({ request }: RetryContext): boolean =>
  request.method === "POST" && !(operations[request.operation.id]?.params ?? []).some(({ name }) => name === "Idempotency-Key");

/** The first try is still being answered: its answer is had by asking again. */
const isStillInProgress = async ({ attempt, response }: RetryContext): Promise<boolean> => {
  if (attempt < 2 || response?.status !== 409) return false;
  const error: unknown = await response.clone().json();
  return isObject(error) && error.code === "idempotency_conflict";
};

const toFailure = (error: unknown): Failure =>
  isObject(error) && typeof error.code === "string" && typeof error.message === "string"
    ? { code: error.code, message: error.message }
    : unexpectedResponseFailure;

type ClientCall = (args?: object, init?: object) => Promise<{ readonly error: unknown; readonly response: Response }>;

/** What finds nobody is a value too; only a call that the caller ended throws. */
const withErrorsAsValues =
  (call: ClientCall): ClientCall =>
  async (args, init) => {
    try {
      const answer = await call(args, init);
      return answer.response.ok ? answer : { ...answer, error: toFailure(answer.error) };
    } catch (error) {
      const isLate = error instanceof TimeoutError || (error instanceof DOMException && error.name === "TimeoutError");
      if (!isLate && !(error instanceof TypeError)) throw error;
      return { data: undefined, error: unreachableFailure, response: Response.error() };
    }
  };

export const createSvc = ({ baseUrl, apiKey, retries = 2, patienceSeconds = 30, timeoutMs = 15_000, fetch: send }: SvcOptions): Svc => {
  const client = createClient<Ops>(OPERATIONS, {
    serverUrl: baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""),
    errorMode: "result",
    clientHeader: false,
    idempotencyKey: true,
    timeout: timeoutMs,
    retry: {
      retries,
      retryDelay: 500,
      retryOn: async (tried) => {
        if (Number(tried.response?.headers.get("retry-after") ?? 0) > patienceSeconds) return false;
        if (tried.response?.status === 429) return true; // nothing has happened
        if (isUnsafeToRetry(tried)) return false;
        return defaultRetryOn(tried) || isStillInProgress(tried);
      },
    },
    onResponse: unwrapEnvelope,
    ...(send !== undefined && { fetch: send }),
    ...(apiKey !== undefined && { auth: { bearer: apiKey } }),
  });
  const calls = client as unknown as Readonly<Record<string, ClientCall>>;
  return Object.fromEntries(Object.keys(OPERATIONS).map((name) => [name, withErrorsAsValues(calls[name] as ClientCall)])) as unknown as Svc;
};

type QueryOf<Name extends keyof Ops> = Ops[Name]["args"] extends { query?: infer Query } ? NonNullable<Query> : never;
type PageOf<Name extends keyof Ops> = NonNullable<Ops[Name]["result"]["data"]>;

/** What asks for the page after this one; null after the last. */
const nextPageQueries = {
  listEvents: (page: PageOf<"listEvents">) => (page.has_more ? { cursor: page.next_cursor } : null),
  listShares: (page: PageOf<"listShares">) => (page.has_more ? { starting_after: page.shares.at(-1)?.id } : null),
  listCertificates: (page: PageOf<"listCertificates">) => (page.page * page.per_page < page.total ? { page: page.page + 1 } : null),
};

/** Every page of a list, one after the other, as the list itself answers it. A refusal is the last. */
export async function* pagesOf<Name extends keyof typeof nextPageQueries>(
  svc: Svc,
  name: Name,
  query?: QueryOf<Name>,
): AsyncGenerator<Ops[Name]["result"]> {
  const list = svc[name] as (args: { readonly query: object }) => Promise<Ops[Name]["result"]>;
  const next = nextPageQueries[name] as (page: unknown) => object | null;
  for (let more: object | null = {}; more !== null; ) {
    const answer = await list({ query: { ...query, ...more } });
    yield answer;
    more = answer.error === undefined ? next(answer.data) : null;
  }
}
