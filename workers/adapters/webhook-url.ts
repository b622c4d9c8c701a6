// Whether an address may be registered as a receiver: the spelling and name rules that every attempt is judged by, and what
// resolvers say of the host. A host that has no address yet, or of which no resolver tells just now, may be registered: there is
// nothing behind it, and each attempt asks again.
import { checkOutboundUrl } from "../../core/access/outbound-url.ts";
import { secondMs } from "../../core/time.ts";
import type { CheckHost } from "./public-hosts.ts";
import { webhookPorts } from "./webhook-sender.ts";

export type MayBeWebhook = (url: string) => Promise<boolean>;

const resolveMs = 3 * secondMs; // the resolvers' own two seconds and a margin

export const openWebhookUrlCheck =
  (settings: {
    readonly ownHosts: readonly string[];
    readonly allowedAsWritten: readonly string[];
    readonly checkHost: CheckHost;
  }): MayBeWebhook =>
  async (url) => {
    const checked = checkOutboundUrl(url, { ...settings, ports: webhookPorts });
    if (!checked.ok) return false;
    if (checked.url.local) return true;
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), resolveMs);
    try {
      return (await settings.checkHost(checked.url.hostname, patience.signal)) !== "not_public";
    } finally {
      clearTimeout(timer);
    }
  };
