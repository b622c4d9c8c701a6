// Calls the Cloudflare API with the credentials that wrangler uses. A call takes milliseconds, while each start of wrangler takes a second
// of CPU time.
import { DeploymentError } from "./config.ts";
import { readFromWrangler, WranglerError } from "./wrangler.ts";

const defaultBaseUrl = "https://api.cloudflare.com/client/v4";
const timeoutMs = 60_000;
const pageSize = 50; // the largest page that the API allows for accounts

/** Thrown if the API refuses a call. */
export class CloudflareError extends Error {
  readonly status: number;
  /** Cloudflare's error codes. */
  readonly codes: readonly number[];
  constructor(call: string, status: number, errors: readonly { readonly code: number; readonly message: string }[]) {
    const reasons = errors.map(({ code, message }) => `${message} [code: ${code}]`);
    super(`${call} failed: ${reasons.length === 0 ? `status ${status}` : reasons.join(" ")}`);
    this.name = "CloudflareError";
    this.status = status;
    this.codes = errors.map(({ code }) => code);
  }
}

/** Each call rejects with a CloudflareError if the API refuses it. Paths start with a slash, such as `/accounts`. */
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
  const { CLOUDFLARE_API_TOKEN: token = "", CLOUDFLARE_API_KEY: key = "" } = process.env;
  if (token !== "" && key === "") return { token }; // wrangler prefers an API key to a token
  return (await readFromWrangler("auth", "token", "--json").catch((error: unknown) => {
    throw error instanceof WranglerError ? notSignedIn : error;
  })) as Credentials;
};

/** Throws a DeploymentError if there are no credentials. */
export const connectToCloudflare = async (): Promise<CloudflareClient> => {
  const credentials = await readCredentials();
  const headers: HeadersInit =
    "token" in credentials
      ? { authorization: `Bearer ${credentials.token}` }
      : { "x-auth-email": credentials.email, "x-auth-key": credentials.key };
  const baseUrl = process.env.CLOUDFLARE_API_BASE_URL ?? defaultBaseUrl;

  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const signal = AbortSignal.timeout(timeoutMs);
    const init = body !== undefined && { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(`${baseUrl}${path}`, { method, headers, signal, ...init }).catch((error: unknown) => {
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
