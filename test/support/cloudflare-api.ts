// Simulates the parts of the Cloudflare API that wrangler calls during a deployment. Remembers what was created, runs SQL on a real SQLite
// database, and can make selected calls fail. A test can connect it to a running service.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

const accountId = "0123456789abcdef0123456789abcdef";
const zoneId = "fedcba9876543210fedcba9876543210";
const apiToken = "token-of-the-stub";
/** The token of an operator who signed in with `wrangler login`. */
export const signInToken = "token-of-a-sign-in";
const acceptedTokens = [apiToken, signInToken];

interface Worker {
  readonly secrets: Set<string>;
  /** The versions in the order in which they became active. */
  readonly versions: string[];
  /**
   * The name of a secret that changed after the version was uploaded, by version ID. As in Cloudflare, such a version can be activated
   * again only by force.
   */
  readonly changedSecrets: Map<string, string>;
}

/** A running service that the API deploys to. */
export interface DeployedService {
  /** Runs SQL on the deployed database and returns the rows of the last statement. */
  readonly runSql: (sql: string, params: readonly unknown[]) => Promise<readonly unknown[]>;
  /** Called when a version becomes active. `code` is the uploaded main module, or null if the version was uploaded earlier. */
  readonly activate: (versionId: string, code: string | null) => Promise<void>;
}

export interface CloudflareApi {
  readonly environment: Readonly<Record<string, string>>;
  /** Every call that changes something, in order, such as `POST /d1/database`. */
  readonly changes: string[];
  /** Calls that this simulation does not support. */
  readonly unknown: string[];
  /** `db` is null if the database belongs to a running service. */
  readonly databases: Map<string, { readonly name: string; readonly db: DatabaseSync | null }>;
  readonly namespaces: Map<string, string>;
  readonly buckets: Set<string>;
  readonly queues: Map<string, { readonly id: string; readonly consumers: object[] }>;
  readonly workers: Map<string, Worker>;
  readonly emailDomains: Set<string>;
  /** Hosts that the Worker serves. */
  readonly domains: string[];
  /** Bodies of the uploads, as text. */
  readonly uploads: string[];
  /** Causes API calls that match the pattern to fail with 500. Pass null to stop. */
  fail: (pattern: RegExp | null) => void;
  close: () => Promise<void>;
}

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

/** Returns the main module in the body of an upload. */
const readUploadedCode = async (body: Buffer, contentType: string): Promise<string> => {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": contentType } }).formData();
  const { main_module: name } = JSON.parse(String(form.get("metadata"))) as { readonly main_module: string };
  return (form.get(name) as File).text();
};

type Reply = { readonly status?: number; readonly result?: unknown; readonly code?: number; readonly message?: string } | undefined;

export const startCloudflareApi = async (domain: string, service?: DeployedService): Promise<CloudflareApi> => {
  const changes: string[] = [];
  const unknown: string[] = [];
  const databases: CloudflareApi["databases"] = new Map();
  const namespaces: CloudflareApi["namespaces"] = new Map();
  const buckets = new Set<string>();
  const queues: CloudflareApi["queues"] = new Map();
  const workers: CloudflareApi["workers"] = new Map();
  const emailDomains = new Set<string>();
  const domains: string[] = [];
  const uploads: string[] = [];
  let failing: RegExp | null = null;
  let nextId = 1;
  const createId = (): string => `${String(nextId++).padStart(8, "0")}-0000-4000-8000-000000000000`;

  const runSql = (db: DatabaseSync, sql: string, params: readonly SQLInputValue[]): object => {
    const isQuery = /^\s*(?:select|pragma|with)/i.test(sql);
    const results = isQuery ? db.prepare(sql).all(...params) : [];
    if (!isQuery) {
      if (params.length > 0) db.prepare(sql).run(...params);
      else db.exec(sql);
    }
    return { success: true, results, meta: { changed_db: !isQuery, duration: 1, rows_read: 1, rows_written: 1, size_after: 4_096 } };
  };

  const handle = async (method: string, path: string, query: URLSearchParams, body: Buffer, contentType: string): Promise<Reply> => {
    const parseBody = (): Record<string, unknown> => (body.length === 0 ? {} : (JSON.parse(body.toString()) as Record<string, unknown>));
    const at = `${method} ${path}`;
    if (at === "GET /user/tokens/verify") return { result: { id: "token", status: "active" } };
    if (at === "GET /user") return { result: { id: "user", email: "operator@example.com" } };
    if (at === "GET /accounts" && Number(query.get("per_page") ?? 20) > 50)
      return { status: 400, code: 7_000, message: "per_page must be at most 50" };
    if (at === "GET /accounts") return { result: [{ id: accountId, name: "Acme Solar" }] };
    if (at === "GET /memberships") return { result: [{ id: "m", account: { id: accountId, name: "Acme Solar" } }] };
    if (at === "GET /zones") return { result: query.get("name") === domain ? [{ id: zoneId, name: domain }] : [] };
    const account = path.startsWith(`/accounts/${accountId}`) ? path.slice(`/accounts/${accountId}`.length) : null;
    const zone = path.startsWith(`/zones/${zoneId}`) ? path.slice(`/zones/${zoneId}`.length) : null;
    if (zone === "/email/sending/subdomains") {
      if (method === "POST") emailDomains.add(String(parseBody().name));
      return {
        result:
          method === "POST"
            ? { name: parseBody().name, enabled: true, tag: "t" }
            : [domain, ...emailDomains].map((name) => ({ name, enabled: emailDomains.has(name), tag: "t" })),
      };
    }
    if (account === null) return undefined;
    const call = `${method} ${account}`;

    if (call === "GET /d1/database") return { result: [...databases].map(([uuid, { name }]) => ({ uuid, name })) };
    if (call === "POST /d1/database") {
      const uuid = createId();
      databases.set(uuid, { name: String(parseBody().name), db: new DatabaseSync(":memory:") });
      return { result: { uuid, name: parseBody().name } };
    }
    const [, databaseId, action] = /^\/d1\/database\/([^/]+)(?:\/(\w+))?$/.exec(account) ?? [];
    const database = databaseId === undefined ? undefined : databases.get(databaseId);
    if (database !== undefined && action === "query") {
      const { sql, params = [] } = parseBody() as { sql: string; params?: SQLInputValue[] };
      if (database.db !== null) return { result: [runSql(database.db, sql, params)] };
      return { result: [{ success: true, results: await service?.runSql(sql, params), meta: { duration: 1 } }] };
    }
    if (database !== undefined) return { result: { uuid: databaseId, name: database.name, version: "production" } };

    if (call === "GET /storage/kv/namespaces") return { result: [...namespaces].map(([id, title]) => ({ id, title })) };
    if (call === "POST /storage/kv/namespaces") {
      const id = createId().replaceAll("-", "");
      namespaces.set(id, String(parseBody().title));
      return { result: { id, title: parseBody().title } };
    }

    if (call === "POST /r2/buckets") {
      buckets.add(String(parseBody().name));
      return { result: { name: parseBody().name } };
    }
    const [, bucket] = /^\/r2\/buckets\/([^/]+)/.exec(account) ?? [];
    if (bucket !== undefined)
      return buckets.has(bucket)
        ? { result: { name: bucket, rules: [] } }
        : { status: 404, code: 10_006, message: "The specified bucket does not exist." };

    const toQueue = (name: string) => {
      const queue = queues.get(name);
      return queue === undefined
        ? undefined
        : { queue_id: queue.id, queue_name: name, producers: [], consumers: queue.consumers, settings: {} };
    };
    if (call === "GET /queues") {
      const named = query.get("name");
      return { result: [...queues.keys()].filter((name) => named === null || name === named).map(toQueue) };
    }
    if (call === "POST /queues") {
      queues.set(String(parseBody().queue_name), { id: createId().replaceAll("-", ""), consumers: [] });
      return { result: toQueue(String(parseBody().queue_name)) };
    }
    const [, queueId] = /^\/queues\/([^/]+)\/consumers/.exec(account) ?? [];
    if (queueId !== undefined) {
      const queue = [...queues.values()].find(({ id }) => id === queueId);
      if (method === "POST")
        queue?.consumers.push({ consumer_id: "c1", type: "worker", script: parseBody().script_name, settings: parseBody().settings });
      return { result: method === "GET" ? queue?.consumers : {} };
    }

    const [, worker, rest = ""] = /^\/workers\/(?:scripts|services|workers)\/([^/]+)(\/.*)?$/.exec(account) ?? [];
    if (worker !== undefined) {
      const existing = workers.get(worker);
      const missing = { status: 404, code: 10_007, message: "This Worker does not exist on your account." };
      if (method === "PUT" && rest === "") {
        const text = body.toString("latin1");
        uploads.push(text);
        const metadata = /\{"main_module".*\}/.exec(text)?.[0];
        const bindings = metadata === undefined ? [] : (JSON.parse(metadata) as { bindings: { type: string; name: string }[] }).bindings;
        const kept: Worker = existing ?? { secrets: new Set(), versions: [], changedSecrets: new Map() };
        for (const { type, name } of bindings) if (type === "secret_text") kept.secrets.add(name);
        const versionId = createId();
        await service?.activate(versionId, await readUploadedCode(body, contentType));
        kept.versions.push(versionId);
        workers.set(worker, kept);
        return {
          result: {
            id: worker,
            etag: "e",
            startup_time_ms: 10,
            deployment_id: kept.versions.at(-1),
            pipeline_hash: "p",
            mutable_pipeline_id: "m",
            entry_point: "index.js",
          },
        };
      }
      if (rest === "/assets-upload-session") return { result: { jwt: "jwt", buckets: [] } };
      if (existing === undefined) return missing;
      if (rest === "/secrets-bulk") {
        for (const name of Object.keys((parseBody().secrets ?? {}) as object)) {
          existing.secrets.add(name);
          for (const id of existing.versions) existing.changedSecrets.set(id, name);
        }
        existing.versions.push(createId());
        return { result: {} };
      }
      if (rest === "/secrets") return { result: [...existing.secrets].map((name) => ({ name, type: "secret_text" })) };
      if (rest === "/deployments") {
        if (method === "POST") {
          const id = String((parseBody().versions as { version_id: string }[])[0]?.version_id);
          const changed = existing.changedSecrets.get(id);
          if (changed !== undefined && query.get("force") !== "true")
            return { status: 400, code: 10_220, message: `Cannot deploy the version. The following secrets have changed: ${changed}` };
          await service?.activate(id, null);
          existing.versions.push(id);
        }
        return {
          result: {
            deployments: existing.versions.toReversed().map((id) => ({
              id,
              source: "wrangler",
              strategy: "percentage",
              author_email: "operator@example.com",
              created_on: "2026-11-26T00:00:00.000Z",
              annotations: {},
              versions: [{ version_id: id, percentage: 100 }],
            })),
          },
        };
      }
      if (rest.startsWith("/versions")) {
        const id = rest.split("/")[2];
        const buildVersion = (versionId: string) => ({
          id: versionId,
          number: 1,
          metadata: { created_on: "2026-11-26T00:00:00.000Z", author_email: "operator@example.com", source: "wrangler" },
          annotations: {},
          resources: { bindings: [], script: { etag: "e", handlers: ["fetch"] }, script_runtime: {} },
        });
        return { result: id === undefined ? { items: existing.versions.map(buildVersion) } : buildVersion(id) };
      }
      if (rest === "/domains/changeset") return { result: { added: parseBody(), removed: [], updated: [], conflicting: [] } };
      if (rest === "/domains/records") domains.push(...(parseBody().origins as { hostname: string }[]).map(({ hostname }) => hostname));
      if (rest === "/settings")
        return {
          result: {
            bindings: [...existing.secrets].map((name) => ({ type: "secret_text", name })),
            compatibility_date: "2026-10-01",
            compatibility_flags: [],
            tags: [],
          },
        };
      if (rest === "" && account.startsWith("/workers/workers/"))
        return {
          result: { id: worker, name: worker, subdomain: { enabled: false, previews_enabled: false }, observability: {}, tags: [] },
        };
      if (rest === "")
        return {
          result: { id: worker, default_environment: { environment: "production", script: { last_deployed_from: "wrangler", tag: "t" } } },
        };
      return { result: {} };
    }
    if (account.startsWith("/workers/domains")) return { result: method === "GET" ? [] : {} };
    if (account === "/workers/subdomain") return { result: { subdomain: "acme" } };
    return undefined;
  };

  const server: Server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const url = new URL(request.url ?? "/", "http://localhost");
      const path = url.pathname.replace(/^\/client\/v4/, "");
      const method = request.method ?? "GET";
      const at = `${method} ${path.replace(`/accounts/${accountId}`, "").replace(`/zones/${zoneId}`, "/zone")}`;
      let reply: Reply;
      if (!acceptedTokens.some((token) => request.headers.authorization === `Bearer ${token}`))
        reply = { status: 401, code: 10_000, message: "Authentication error" };
      else if (failing?.test(at) === true) reply = { status: 500, code: 10_000, message: "Internal error" };
      else {
        reply = await handle(method, path, url.searchParams, body, request.headers["content-type"] ?? "").catch((error: unknown) => ({
          status: 500,
          code: 10_000,
          message: String(error),
        }));
        if (reply === undefined) unknown.push(at);
        else if (method !== "GET" && reply.status === undefined) changes.push(at);
      }
      const { status = 200, result: found = null, code, message } = reply ?? { status: 404, code: 7_003, message: `unknown: ${at}` };
      const size = Number(url.searchParams.get("per_page") ?? 1_000);
      const start = (Number(url.searchParams.get("page") ?? 1) - 1) * size;
      const result = Array.isArray(found) ? found.slice(start, start + size) : found;
      const errors = code === undefined ? [] : [{ code, message }];
      response.writeHead(status, { "content-type": "application/json" });
      const listed = Array.isArray(result)
        ? { result_info: { page: start / size + 1, per_page: size, count: result.length, total_count: (found as unknown[]).length } }
        : {};
      response.end(JSON.stringify({ success: errors.length === 0, errors, messages: [], result, ...listed }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    environment: {
      CLOUDFLARE_API_BASE_URL: `http://127.0.0.1:${port}/client/v4`,
      CLOUDFLARE_API_TOKEN: apiToken,
    },
    changes,
    unknown,
    databases,
    namespaces,
    buckets,
    queues,
    workers,
    emailDomains,
    domains,
    uploads,
    fail: (pattern) => {
      failing = pattern;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};
