// Sends one webhook request to a customer's endpoint. Checks the host before each attempt (a verdict is reused for five seconds), aborts an
// attempt after ten seconds, and does not follow redirects. Reads only the status, the headers and the first 4 kB of the response body.
import { BoundedMap } from "../../core/bounded-map.ts";
import { concatBytes } from "../../core/bytes.ts";
import type { HostVerdict } from "../../core/access/dns-answer.ts";
import { checkOutboundUrl } from "../../core/access/outbound-url.ts";
import type { AttemptOutcome } from "../../core/webhooks/endpoint.ts";
import { cutHeaders, maxResponseBodyBytes, toResponseBody, type WebhookResponse } from "../../core/webhooks/exchange.ts";
import { attemptTimeoutMs } from "../../core/webhooks/retry-schedule.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { hostVerdictTimeoutMs, type OutboundRules } from "./public-hosts.ts";
import { withTimeout } from "./timeout.ts";

export const webhookPorts = [443, 8_443] as const;

export interface WebhookSenderSettings extends OutboundRules {
  readonly clock: Clock;
}

export interface WebhookPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The result of an attempt. `blocked` means that nothing was sent because the URL or its host is not allowed. `deferred` means that nothing
 * was sent because a resolver did not respond, so the host could not be checked.
 */
export type WebhookResult =
  | (Extract<AttemptOutcome, { kind: "answered" }> & { readonly response: WebhookResponse })
  | Extract<AttemptOutcome, { kind: "unanswered" }>
  | { readonly kind: "blocked"; readonly error: "dns" | "connection" }
  | { readonly kind: "deferred"; readonly error: "dns" };

/** Sends one request. Never throws. */
export type PostWebhook = (post: WebhookPost) => Promise<WebhookResult>;

// A verdict is reused for a few seconds, so that a busy endpoint does not cause a DNS lookup for each delivery. A lookup right before each
// request would not be safer, because Workers cannot pin the IP address for the request.
const verdictTtlMs = 5 * secondMs;
const maxVerdicts = 1_000;

// The time limit for reading the body, in milliseconds. The body only helps to debug a receiver, and usually arrives with the status. A
// slow body must not delay other deliveries.
const responseBodyTimeoutMs = 250;

const classifyError = (error: unknown): "dns" | "tls" | "connection" => {
  const text = error instanceof Error ? error.message : "";
  if (/\b(?:TLS|SSL|certificate)\b/i.test(text)) return "tls";
  return /\bDNS\b|resolve|ENOTFOUND|EAI_AGAIN/i.test(text) ? "dns" : "connection";
};

/** Reads the part of the body that arrives in time, up to the size limit, and then closes the connection. */
const readResponse = async (response: Response): Promise<WebhookResponse> => {
  const { headers, isCut: isHeaderCut } = cutHeaders(response.headers);
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let hasMore = reader !== undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), responseBodyTimeoutMs);
  });
  try {
    while (reader !== undefined && hasMore && size <= maxResponseBodyBytes) {
      const read = await Promise.race([reader.read(), timeout]);
      if (read === null) break;
      hasMore = !read.done;
      if (read.value === undefined) continue;
      chunks.push(read.value);
      size += read.value.length;
    }
  } catch {
    // The connection broke. Keep the part of the body that has arrived.
  } finally {
    clearTimeout(timer);
    reader?.cancel().catch(() => undefined); // an error while closing the connection does not matter
  }
  const { body, isCut } = toResponseBody(concatBytes(...chunks), hasMore);
  return { headers, body, isCut: isHeaderCut || isCut };
};

export const createWebhookSender = (settings: WebhookSenderSettings): PostWebhook => {
  const { clock } = settings;
  const publicUntil = new BoundedMap<string, number>(maxVerdicts);

  const isKnownPublic = (hostname: string): boolean => {
    const remainingMs = (publicUntil.get(hostname) ?? 0) - clock();
    return remainingMs > 0 && remainingMs <= verdictTtlMs;
  };

  const checkHost = async (hostname: string): Promise<HostVerdict> => {
    if (isKnownPublic(hostname)) return "public";
    const verdict = await withTimeout(hostVerdictTimeoutMs, (signal) => settings.checkHost(hostname, signal));
    if (verdict === "public") publicUntil.set(hostname, clock() + verdictTtlMs);
    return verdict;
  };

  const post = async ({ url, body, headers }: WebhookPost): Promise<WebhookResult> => {
    const startedAt = clock();
    const durationMs = (): number => Math.max(0, clock() - startedAt);
    return withTimeout(attemptTimeoutMs, async (signal) => {
      try {
        const response = await fetch(url, { method: "POST", body, headers, redirect: "manual", cache: "no-store", signal });
        const outcome = { kind: "answered", status: response.status, durationMs: durationMs() } as const;
        return { ...outcome, response: await readResponse(response) };
      } catch (error) {
        return { kind: "unanswered", error: signal.aborted ? "timeout" : classifyError(error), durationMs: durationMs() };
      }
    });
  };

  return async (request) => {
    const checked = checkOutboundUrl(request.url, { ...settings, ports: webhookPorts });
    if (!checked.ok) return { kind: "blocked", error: "connection" };
    const { href, hostname, isDevelopmentHost } = checked.url;
    const verdict = isDevelopmentHost ? "public" : await checkHost(hostname);
    if (verdict === "unanswered") return { kind: "deferred", error: "dns" };
    if (verdict !== "public") return { kind: "blocked", error: "dns" };
    return post({ ...request, url: href });
  };
};
