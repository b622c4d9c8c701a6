// Calls the Cloudflare API with the credentials that wrangler uses. A call takes milliseconds, while each start of wrangler takes a second
// of CPU time.
import { setTimeout as pause } from "node:timers/promises";
import { computeRetryDelayMs } from "../../core/retry.ts";
import { secondMs } from "../../core/time.ts";
import { DeploymentError } from "./config.ts";
import { readFromWrangler, WranglerError } from "./wrangler.ts";

const timeoutMs = 60_000;
const maxAttempts = 4; // the pauses take 7 seconds in total unless the API sends Retry-After
const backoff = { firstMs: secondMs, maxMs: 60 * secondMs };
const pageSize = 50; // the largest page that the API allows for accounts

/** Thrown if the API refuses a call. */
export class CloudflareError extends Error {
  readonly status: number;
  readonly codes: readonly number[];
  constructor(call: string, status: number, errors: readonly { readonly code: number; readonly message: string }[]) {
    const reasons = errors.map(({ code, message }) => `${message} [code: ${code}]`);
    super(`${call} failed: ${reasons.length === 0 ? `status ${status}` : reasons.join(" ")}`);
    this.name = "CloudflareError";
    this.status = status;
    this.codes = errors.map(({ code }) => code);
  }
}

/**
 * Each call rejects with a CloudflareError if the API refuses it. Paths start with a slash, such as `/accounts`. `get` and `list` try again
 * after network errors, rate limits and server errors, unless the API asks for a wait of more than a minute.
 */
export interface CloudflareClient {
  readonly get: <T>(path: string) => Promise<T>;
  /** Returns the items of all pages. The path must not contain a query. */
  readonly list: <T>(path: string) => Promise<readonly T[]>;
  readonly post: <T>(path: string, body: object) => Promise<T>;
}

export const notSignedIn = new DeploymentError([
  "You are not signed in to Cloudflare. Run npx wrangler login, or set CLOUDFLARE_API_TOKEN.",
]);

type Credentials = { readonly token: string } | { readonly email: string; readonly key: string };

/** Gets the credentials from wrangler, which renews an expired sign-in. Uses an API token in the environment without starting wrangler. */
const readCredentials = async (): Promise<Credentials> => {
  const { CLOUDFLARE_API_TOKEN: token = "", CLOUDFLARE_API_KEY: key = "", CF_API_KEY: formerKey = "" } = process.env;
  if (token !== "" && key === "" && formerKey === "") return { token }; // wrangler prefers an API key to a token
  return (await readFromWrangler("auth", "token", "--json").catch((error: unknown) => {
    throw error instanceof WranglerError ? notSignedIn : error;
  })) as Credentials;
};

const hostsByRegion: Readonly<Record<string, string>> = { public: "api.cloudflare.com", fedramp_high: "api.fed.cloudflare.com" };

/** Returns the base URL that wrangler uses in this environment. Throws a DeploymentError for an environment that is not supported. */
const getBaseUrl = (): string => {
  const { CLOUDFLARE_COMPLIANCE_REGION: region = "public", WRANGLER_API_ENVIRONMENT: environment = "production" } = process.env;
  const host = hostsByRegion[region];
  if (host === undefined) throw new DeploymentError(["Set CLOUDFLARE_COMPLIANCE_REGION to public or fedramp_high, or remove it."]);
  if (environment !== "production")
    throw new DeploymentError(["Remove WRANGLER_API_ENVIRONMENT. Only Cloudflare's production environment is supported."]);
  return process.env.CLOUDFLARE_API_BASE_URL || process.env.CF_API_BASE_URL || `https://${host}/client/v4`;
};

const isRetryable = ({ status }: Response): boolean => status === 429 || status >= 500;

/** Returns how long to wait before the next attempt; null if the request should not be repeated. `response` is null if none arrived. */
const getRetryDelayMs = (response: Response | null, attempt: number): number | null => {
  if (attempt === maxAttempts || (response !== null && !isRetryable(response))) return null;
  const retryAfter = response?.headers.get("retry-after") ?? "";
  const delayMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * secondMs : computeRetryDelayMs(backoff, attempt);
  return delayMs > backoff.maxMs ? null : delayMs;
};

const fetchWithRetries = async (send: () => Promise<Response>): Promise<Response> => {
  for (let attempt = 1; ; attempt += 1) {
    const [result] = await Promise.allSettled([send()]);
    const delayMs = getRetryDelayMs(result.status === "fulfilled" ? result.value : null, attempt);
    if (delayMs !== null) await pause(delayMs);
    else if (result.status === "fulfilled") return result.value;
    else throw result.reason;
  }
};

/** Throws a DeploymentError if there are no credentials, or if the environment is not supported. */
export const connectToCloudflare = async (): Promise<CloudflareClient> => {
  const baseUrl = getBaseUrl();
  const credentials = await readCredentials();
  const headers: HeadersInit =
    "token" in credentials
      ? { authorization: `Bearer ${credentials.token}` }
      : { "x-auth-email": credentials.email, "x-auth-key": credentials.key };

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const init = body !== undefined && { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
    const send = (): Promise<Response> => fetch(`${baseUrl}${path}`, { method, headers, signal: AbortSignal.timeout(timeoutMs), ...init });
    const response = await (method === "GET" ? fetchWithRetries(send) : send()).catch((error: unknown) => {
      throw new Error(`Could not reach ${new URL(baseUrl).host}.`, { cause: error });
    });
    const { success, result, errors } = (await response.json().catch(() => ({}))) as {
      success?: boolean;
      result?: T;
      errors?: { code: number; message: string }[] | null;
    };
    if (success !== true) throw new CloudflareError(`${method} ${path}`, response.status, errors ?? []);
    return result as T;
  };

  return {
    get: (path) => call("GET", path),
    list: async <T>(path: string) => {
      const items: T[] = [];
      for (let page = 1; ; page += 1) {
        const found = await call<readonly T[]>("GET", `${path}?page=${page}&per_page=${pageSize}`);
        items.push(...found);
        if (found.length < pageSize) return items;
      }
    },
    post: (path, body) => call("POST", path, body),
  };
};
