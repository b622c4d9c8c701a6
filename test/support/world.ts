// Provides the demo businesses (in two shards), and functions that send requests to the Worker. All workerd tests use this file.
import { createExecutionContext } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { createDemoWorld, type DemoBusiness } from "../../scripts/demo-world.ts";
import type { ShardId } from "../../core/ids.ts";
import { keyKinds } from "../../core/ledger/note.ts";
import { buildApp } from "../../workers/app.ts";
import worker from "../../workers/index.ts";
import { createPlatform } from "../../workers/platform/create-platform.ts";
import { createRandomSecret } from "./note-keys.ts";
import { trackBackgroundWork, waitUntilSettled } from "./background-work.ts";

const secret = "d29ybGQgb2YgdGhlIHRlc3RzLCBub3QgYSBzZWNyZXQ=";
export const world = createDemoWorld(secret);
export const worldInSecondShard = createDemoWorld(secret, "01" as ShardId);

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly text: string;
}

const toTestResponse = async (response: Response): Promise<TestResponse> => {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text !== "" && response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : null,
  };
};

export type Call = (path: string, init?: RequestInit) => Promise<TestResponse>;

export const call: Call = async (path, init = {}) =>
  toTestResponse(await exports.default.fetch(new Request(`http://svc.test${path}`, init)));

type Fetch = (request: Request, context: ExecutionContext) => Promise<Response>;

const createCall =
  (fetch: Fetch, host: string): Call =>
  async (path, init = {}) =>
    toTestResponse(await fetch(new Request(`${host}${path}`, init), createExecutionContext()));

/**
 * Creates an isolate with changed settings or bindings, and with its own caches and in-memory rate limits. If its clock is ahead, each
 * response waits for its background work. Otherwise, that work could later discard other isolates' emails and codes as expired. A test that
 * changes the email transport must call `waitUntilSettled`, so that this isolate's relay does not send the emails of later tests.
 */
export const createServiceCall = (settings: Readonly<Record<string, unknown>> = {}, host = "http://svc.test"): Call => {
  const deployment = { ...env, ...settings };
  const app = createPlatform(deployment).then((platform) => buildApp(trackBackgroundWork(platform)));
  const isAhead = settings.DEV_CLOCK_OFFSET_MS !== undefined;
  return createCall(async (request, context) => {
    const response = await (await app).fetch(request, deployment, context);
    if (isAhead) await waitUntilSettled();
    return response;
  }, host);
};

/** Returns a function that calls the Worker's entry point with changed settings, which may be invalid. */
export const createEntryCall = (settings: Readonly<Record<string, unknown>>, host = "http://svc.test"): Call =>
  createCall((request, context) => worker.fetch(request, { ...env, ...settings }, context), host);

/** URLs and settings of a production deployment. Log keys look random but never change. The other secrets are the test secrets. */
export const productionSettings = {
  LEDGER_KEY: await createRandomSecret("ledger.svc.test/ledger/test"),
  LEDGER_WITNESS_KEY: await createRandomSecret("ledger.svc.test/witness", keyKinds.witness),
  ENVIRONMENT: "production",
  BASE_URL: "https://api.svc.test/v1",
  VERIFY_URL: "https://verify.svc.test",
  CDN_URL: "https://cdn.svc.test",
  MCP_URL: "https://mcp.svc.test/mcp",
  APP_URL: "https://app.svc.test",
  DEV_RATE_SCALE: "",
  DEV_BATCH_WINDOW_MS: "",
  STRIPE_SECRET_KEY: "sk_live_of_the_tests_no_account",
  MAIL_TRANSPORT: "http",
  MAIL_FROM: "no-reply@svc.test",
  MAIL_HTTP_URL: "https://mail.example/send",
  MAIL_HTTP_TOKEN: "mail-token-of-the-tests-not-a-secret",
} as const;

export const getWithKey = (path: string, key?: string): Promise<TestResponse> =>
  call(path, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });

export interface ConsentBody {
  client_id: string;
  fields: Record<string, unknown>;
  disclosure_text: string;
  entities: unknown[];
  purpose: string;
  page_url: string;
  [extra: string]: unknown;
}

/** Builds a submission that is accepted. */
export const buildSubmission = (business: DemoBusiness = world.acme): ConsentBody => ({
  client_id: business.clients.live,
  fields: { email: "pat@example.com", first_name: "Pat", phone: "+1 202 555 0123" },
  disclosure_text: "By clicking Send I agree that Acme Solar LLC may call me.",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
  purpose: "solar quote follow-up",
  page_url: "https://www.example.com/quote?utm=1",
});

export const origin = "https://www.example.com";

/** Headers to send; null removes a default header. */
export type HeaderChanges = Readonly<Record<string, string | null>>;

/** Builds the request that a browser sends from the business's page. */
export const buildConsentRequest = (body: unknown, headers: HeaderChanges = {}): RequestInit => {
  const sent: HeaderChanges = {
    "content-type": "text/plain;charset=UTF-8",
    origin,
    "sec-fetch-mode": "cors",
    "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605.1",
    ...headers,
  };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method: "POST",
    headers: Object.entries(sent).filter((header): header is [string, string] => header[1] !== null),
    // The body is sent as bytes, because a string body would add a content type of its own.
    body: body instanceof Uint8Array ? body : new TextEncoder().encode(text),
  };
};

/** Sends POST /v1/consent as a browser on the business's page does. */
export const submitConsent = (body: unknown, headers: HeaderChanges = {}): Promise<TestResponse> =>
  call("/v1/consent", buildConsentRequest(body, headers));

export const issueCertificate = async (
  change: Partial<ConsentBody> = {},
  business: DemoBusiness = world.acme,
): Promise<{ cert_id: string; fingerprint: string; [key: string]: unknown }> => {
  const response = await submitConsent({ ...buildSubmission(business), ...change });
  if (response.status !== 201) throw new Error(`not issued: ${response.text}`);
  return response.body.data;
};

/**
 * Columns that background work (audit logs and the ledger) may still change, and columns that record when a key or session was last used.
 */
const backgroundColumns: Readonly<Record<string, readonly string[]>> = {
  api_keys: ["last_used_at"],
  sessions: ["seen_day"],
  anchors: ["status", "attempts", "next_at", "prepared", "tx_ref", "receipt", "anchored_at", "last_error"],
};
const backgroundTables: ReadonlySet<string> = new Set(["ledger_state", "changes", "change_readers", "audit_batches"]);

const omitBackgroundData = (table: string, rows: readonly Record<string, unknown>[]): readonly Record<string, unknown>[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !backgroundColumns[table]?.includes(column))));

/** Converts bytes, which D1 returns as a list of numbers, to text, so that a value stored in plain text can be found. */
const showBytesAsText = (_key: string, value: unknown): unknown =>
  Array.isArray(value) && value.length > 0 && value.every((byte) => typeof byte === "number")
    ? new TextDecoder("latin1").decode(Uint8Array.from(value)) // one character for each byte, so that different values stay different
    : value;

/** Returns the rows of every table as text, to assert that a refused request changed nothing. Waits for background work first. */
export const readDatabaseContents = async (db: D1Database = env.DB): Promise<Record<string, string>> => {
  await waitUntilSettled();
  const { results } = await db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite_%'")
    .all<{ name: string }>();
  const names = results.map(({ name }) => name).filter((name) => !backgroundTables.has(name));
  const tables = await db.batch<Record<string, unknown>>(names.map((name) => db.prepare(`SELECT * FROM ${name}`)));
  return Object.fromEntries(
    names.map((name, at) => [name, JSON.stringify(omitBackgroundData(name, tables[at]?.results ?? []), showBytesAsText)]),
  );
};

/** Tables that show whether a certificate was issued. Background work that follows does not change their row counts. */
const issuanceTables = ["certificates", "purposes", "disclosures", "anchors"] as const;

export const countRows = async (tables: readonly string[] = issuanceTables, db: D1Database = env.DB): Promise<Record<string, number>> => {
  const row = await db.prepare(`SELECT ${tables.map((table) => `(SELECT COUNT(*) FROM ${table}) AS ${table}`).join(", ")}`).first();
  return row as Record<string, number>;
};
