// Sends requests as a browser or a server would, and measures response times. `sendUntilAnswered` repeats a request that got no response, a
// 5xx status, or 409 because an earlier attempt is still in progress.
import { setTimeout as pause } from "node:timers/promises";
import { secondMs } from "../../core/time.ts";

export interface Answer {
  readonly status: number;
  /** The `data` of a successful response; `{}` for any other response. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly code: string | null;
  readonly headers: Headers;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | object;
}

export interface Client {
  /** Returns null if no response arrives within 10 seconds or the connection fails. */
  readonly send: (path: string, options?: RequestOptions) => Promise<Answer | null>;
  /**
   * Repeats the request until a response has a status below 500, at most `attempts` times. Returns the last response; null if the last
   * attempt got none.
   */
  readonly sendUntilAnswered: (path: string, options?: RequestOptions) => Promise<Answer | null>;
  /** Returns the body of a successful response, otherwise null. */
  readonly download: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Uint8Array | null>;
  /** Returns the longest response time since the previous `takeSlowestMs` call, in milliseconds. */
  readonly takeSlowestMs: () => number;
  /** Sets the service's origin, which changes with each restart. */
  readonly moveTo: (origin: string) => void;
}

const timeoutMs = 10_000;
const retryMs = 200;

export const createClient = ({ attempts = 4 }: { readonly attempts?: number } = {}): Client => {
  let origin = "";
  let slowestMs = 0;
  const send: Client["send"] = async (path, { method = "GET", headers = {}, body } = {}) => {
    const startedAt = performance.now();
    try {
      const response = await fetch(`${origin}${path}`, {
        method,
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
        headers: { ...(typeof body === "object" && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      const parsed = (isJson ? JSON.parse(text) : {}) as { readonly data?: Answer["data"]; readonly error?: { readonly code: string } };
      return { status: response.status, data: parsed.data ?? {}, code: parsed.error?.code ?? null, headers: response.headers };
    } catch {
      return null;
    } finally {
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  };
  return {
    send,
    sendUntilAnswered: async (path, options) => {
      for (let attempt = 1; ; attempt += 1) {
        const response = await send(path, options);
        // 409 with Retry-After: an earlier attempt, whose response was lost, is still in progress.
        const retryAfter = response?.status === 409 ? response.headers.get("retry-after") : null;
        if (attempt === attempts || (response !== null && response.status < 500 && retryAfter === null)) return response;
        await pause(retryAfter === null ? retryMs : Number(retryAfter) * secondMs);
      }
    },
    download: async (path, headers = {}) => {
      const startedAt = performance.now();
      const response = await fetch(`${origin}${path}`, { headers, signal: AbortSignal.timeout(timeoutMs) }).catch(() => null);
      const bytes = response === null ? null : await response.arrayBuffer().catch(() => null);
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
      return response?.ok === true && bytes !== null ? new Uint8Array(bytes) : null;
    },
    takeSlowestMs: () => {
      const taken = slowestMs;
      slowestMs = 0;
      return taken;
    },
    moveTo: (url) => {
      origin = url;
    },
  };
};
