// One POST to a receiver that nobody knows: its address judged again each time, ten seconds and not one more, no redirect
// followed, and nothing read of what it answers but the status.
import { BoundedMap } from "../../core/bounded-map.ts";
import type { HostVerdict } from "../../core/access/dns-answer.ts";
import { checkOutboundUrl } from "../../core/access/outbound-url.ts";
import type { AttemptOutcome } from "../../core/webhooks/endpoint.ts";
import { attemptTimeoutMs } from "../../core/webhooks/schedule.ts";
import { secondMs, type Clock } from "../../core/time.ts";
import { hostVerdictTimeoutMs, type OutboundRules } from "./public-hosts.ts";
import { withTimeout } from "./timeout.ts";

/** Which ports a receiver may listen on. */
export const webhookPorts = [443, 8_443] as const;

export interface WebhookSenderSettings extends OutboundRules {
  readonly clock: Clock;
}

export interface WebhookPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `deferred`: no resolver told where the host is, so nothing was sent. */
export type WebhookResult = AttemptOutcome | { readonly kind: "deferred"; readonly error: "dns" };

/** Never throws. */
export type PostWebhook = (post: WebhookPost) => Promise<WebhookResult>;

// A verdict serves what starts within the next seconds: a busy endpoint is not asked about a thousand times a second. The
// address that is dialled cannot be pinned here anyway, so a younger verdict would prove no more.
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
    const left = (publicUntil.get(hostname) ?? 0) - clock();
    return left > 0 && left <= verdictTtlMs;
  };

  const judge = async (hostname: string): Promise<HostVerdict> => {
    if (isKnownPublic(hostname)) return "public";
    const verdict = await withTimeout(hostVerdictTimeoutMs, (signal) => settings.checkHost(hostname, signal));
    if (verdict === "public") publicUntil.set(hostname, clock() + verdictTtlMs);
    return verdict;
  };

  const post = async ({ url, body, headers }: WebhookPost): Promise<AttemptOutcome> => {
    const began = clock();
    const durationMs = (): number => Math.max(0, clock() - began);
    return withTimeout(attemptTimeoutMs, async (signal) => {
      try {
        const response = await fetch(url, { method: "POST", body, headers, redirect: "manual", cache: "no-store", signal });
        const outcome: AttemptOutcome = { kind: "answered", status: response.status, durationMs: durationMs() };
        // Unread: the connection ends here, whatever the receiver still wants to say, and how it ends is nobody's concern.
        response.body?.cancel().catch(() => undefined);
        return outcome;
      } catch (error) {
        return { kind: "unanswered", error: signal.aborted ? "timeout" : classifyError(error), durationMs: durationMs() };
      }
    });
  };

  return async (asked) => {
    const checked = checkOutboundUrl(asked.url, { ...settings, ports: webhookPorts });
    if (!checked.ok) return { kind: "unanswered", error: "connection", durationMs: 0 };
    const { href, hostname, isDevelopmentHost } = checked.url;
    const verdict = isDevelopmentHost ? "public" : await judge(hostname);
    if (verdict === "unanswered") return { kind: "deferred", error: "dns" };
    if (verdict !== "public") return { kind: "unanswered", error: "dns", durationMs: 0 };
    return post({ ...asked, url: href });
  };
};
