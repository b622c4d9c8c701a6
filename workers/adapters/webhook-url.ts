// Checks that a URL may be registered as a webhook endpoint, with the DNS and URL rules that each delivery uses. A host is allowed if it
// does not resolve yet or the resolvers do not respond, because each delivery checks it again.
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
