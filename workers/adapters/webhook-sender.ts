// Sends one webhook request to a customer's endpoint. The host is checked again before each attempt, an attempt ends after ten seconds,
// redirects are not followed, and only the status of the response is read.
import { BoundedMap } from "../../core/bounded-map.ts";
import type { HostVerdict } from "../../core/access/dns-answer.ts";
import { checkOutboundUrl } from "../../core/access/outbound-url.ts";
import type { AttemptOutcome } from "../../core/webhooks/endpoint.ts";
import { attemptTimeoutMs } from "../../core/webhooks/retry-schedule.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { hostVerdictTimeoutMs, type OutboundRules } from "./public-hosts.ts";
import { withTimeout } from "./timeout.ts";

/** Ports allowed for webhook endpoints. */
export const webhookPorts = [443, 8_443] as const;

export interface WebhookSenderSettings extends OutboundRules {
  readonly clock: Clock;
}

export interface WebhookPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `deferred`: all resolvers failed to respond, so the request was not sent. */
export type WebhookResult = AttemptOutcome | { readonly kind: "deferred"; readonly error: "dns" };

/** Sends one request. Never throws. */
export type PostWebhook = (post: WebhookPost) => Promise<WebhookResult>;

// A verdict is reused for a few seconds so that a busy endpoint does not cause a DNS lookup for each delivery. A fresher verdict would not
// be safer, because Workers cannot pin the IP address for the request that follows.
const verdictTtlMs = 5 * secondMs;
const maxVerdicts = 1_000;

const classifyError = (error: unknown): "dns" | "tls" | "connection" => {
  const text = error instanceof Error ? error.message : "";
  if (/\b(?:TLS|SSL|certificate)\b/i.test(text)) return "tls";
  return /\bDNS\b|resolve|ENOTFOUND|EAI_AGAIN/i.test(text) ? "dns" : "connection";
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

  const post = async ({ url, body, headers }: WebhookPost): Promise<AttemptOutcome> => {
    const startedAt = clock();
    const durationMs = (): number => Math.max(0, clock() - startedAt);
    return withTimeout(attemptTimeoutMs, async (signal) => {
      try {
        const response = await fetch(url, { method: "POST", body, headers, redirect: "manual", cache: "no-store", signal });
        const outcome: AttemptOutcome = { kind: "answered", status: response.status, durationMs: durationMs() };
        // The body is not read, and an error while closing the connection does not matter.
        response.body?.cancel().catch(() => undefined);
        return outcome;
      } catch (error) {
        return { kind: "unanswered", error: signal.aborted ? "timeout" : classifyError(error), durationMs: durationMs() };
      }
    });
  };

  return async (request) => {
    const checked = checkOutboundUrl(request.url, { ...settings, ports: webhookPorts });
    if (!checked.ok) return { kind: "unanswered", error: "connection", durationMs: 0 };
    const { href, hostname, isDevelopmentHost } = checked.url;
    const verdict = isDevelopmentHost ? "public" : await checkHost(hostname);
    if (verdict === "unanswered") return { kind: "deferred", error: "dns" };
    if (verdict !== "public") return { kind: "unanswered", error: "dns", durationMs: 0 };
    return post({ ...request, url: href });
  };
};
