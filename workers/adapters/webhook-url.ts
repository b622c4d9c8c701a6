// Whether an address may be registered as a receiver: the spelling and name rules that every attempt is judged by, and what
// resolvers say of the host. A host that has no address yet, or of which no resolver tells just now, may be registered: there is
// nothing behind it, and each attempt asks again.
import { checkOutboundUrl } from "../../core/access/outbound-url.ts";
import { hostVerdictTimeoutMs, type OutboundRules } from "./public-hosts.ts";
import { withTimeout } from "./timeout.ts";
import { webhookPorts } from "./webhook-sender.ts";

export type IsAllowedWebhookUrl = (url: string) => Promise<boolean>;

export const createWebhookUrlCheck =
  (settings: OutboundRules): IsAllowedWebhookUrl =>
  async (url) => {
    const checked = checkOutboundUrl(url, { ...settings, ports: webhookPorts });
    if (!checked.ok) return false;
    const { isDevelopmentHost, hostname } = checked.url;
    return (
      isDevelopmentHost || (await withTimeout(hostVerdictTimeoutMs, (signal) => settings.checkHost(hostname, signal))) !== "not_public"
    );
  };
