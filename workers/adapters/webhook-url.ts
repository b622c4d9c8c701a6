// Checks that a URL may be registered as a webhook endpoint, with the same DNS and URL rules as before each delivery. Allows a host that
// does not resolve yet, and any host while the resolvers do not respond. Each delivery checks the host again.
import { checkOutboundUrl, type OutboundUrlFault } from "../../core/access/outbound-url.ts";
import { hostVerdictTimeoutMs, type OutboundRules } from "./public-hosts.ts";
import { withTimeout } from "./timeout.ts";
import { webhookPorts } from "./webhook-sender.ts";

/** Returns the rule that the URL breaks, or null if the URL is allowed. */
export type FindWebhookUrlFault = (url: string) => Promise<string | null>;

const rules: Readonly<Record<OutboundUrlFault | "not_public", string>> = {
  spelling: "must be one URL of at most 2,048 characters, with spaces and other special characters encoded",
  not_https: "must start with https://",
  credentials: "must not contain a username or password",
  fragment: "must not contain a fragment (#)",
  ip_address: "must contain a host name, not an IP address",
  port: "must use port 443 or 8443",
  host_name: "must have a public host name, such as hooks.acme.com",
  internal_name: "must not have an internal or reserved host, such as localhost or a name that ends with .local",
  own_host: "must not have a host of this service",
  not_public: "must have a host whose IP addresses are all public",
};

export const createWebhookUrlCheck =
  (settings: OutboundRules): FindWebhookUrlFault =>
  async (url) => {
    const checked = checkOutboundUrl(url, { ...settings, ports: webhookPorts });
    if (!checked.ok) return rules[checked.fault];
    const { isDevelopmentHost, hostname } = checked.url;
    if (isDevelopmentHost) return null;
    const verdict = await withTimeout(hostVerdictTimeoutMs, (signal) => settings.checkHost(hostname, signal));
    return verdict === "not_public" ? rules.not_public : null;
  };
