// Checks that a URL may be registered as a webhook endpoint, with the same DNS and URL rules as each delivery. A host that does not resolve
// yet is allowed, as is any host while the resolvers do not respond, because each delivery checks the host again.
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
