// Implements PATCH /v1/business/portal/clients/{client_id}. Registers the URLs that share requests can return to, and sets whether share
// codes can be redeemed without an Origin header.
import type { MemberSession } from "../../../core/access/session.ts";
import { getOriginRules, verifyOrigin } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import type { AuditedAction } from "../../../core/domain-events.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { ClientId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { GrantingClient } from "../../../core/shares/grant.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { findOwnClient, updateClient as updateStoredClient, type Client, type ClientSettings } from "../../../storage/clients.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";

export const maxReturnUrls = 20;
const maxReturnUrlLength = 2_048;

/** Changes to a client. Undefined properties stay unchanged. */
export type ClientChange = { readonly [K in keyof ClientSettings]?: ClientSettings[K] | undefined };

const parseReturnUrls = (
  { config }: WriteDependencies,
  client: GrantingClient,
  requested: readonly string[],
): Result<readonly string[], "invalid_request"> => {
  const rules = getOriginRules(config, client);
  const urls: string[] = [];
  for (const text of requested) {
    const url = text.length <= maxReturnUrlLength && URL.canParse(text) ? new URL(text) : null;
    if (
      url === null ||
      url.username !== "" ||
      url.password !== "" ||
      url.hash !== "" ||
      !verifyOrigin(url.origin, client.domains, rules).ok
    )
      return refuse("invalid_request", "return_urls: each must be a URL on one of your verified domains, without a fragment.");
    if (!urls.includes(url.href)) urls.push(url.href);
  }
  return urls.length > maxReturnUrls ? refuse("invalid_request", `return_urls: must contain at most ${maxReturnUrls} URLs.`) : ok(urls);
};

/** Returns one action for each setting that differs. */
const listChanges = (before: Client, after: Client): readonly AuditedAction[] => {
  const client = { entityType: "client", entityId: before.id } as const;
  const actions: AuditedAction[] = [];
  const urls = toCanonicalJson([...after.returnUrls]);
  if (urls !== toCanonicalJson([...before.returnUrls]))
    actions.push({
      ...client,
      type: "client.return_urls_changed",
      payload: { count: after.returnUrls.length, urls_hash: sha256Hex(urls) },
    });
  if (after.requireOrigin !== before.requireOrigin)
    actions.push({ ...client, type: "client.require_origin_changed", payload: { require_origin: after.requireOrigin } });
  return actions;
};

/**
 * Updates the client. The new return URLs replace all earlier ones. A share request whose return URL exactly matches one of them counts as
 * sent by the business. Writes nothing if nothing changes. Returns `not_found` unless the client belongs to the business, and
 * `invalid_request` for more than 20 URLs, an invalid URL, or a URL that is not on a verified domain.
 */
export const updateClient = async (
  services: WriteDependencies,
  member: MemberSession,
  clientId: ClientId,
  change: ClientChange,
): Promise<Result<Client, "not_found" | "invalid_request">> => {
  const db = getBusinessDatabase(services, member);
  const { business } = member;
  const [client, granting] = await Promise.all([findOwnClient(db, business.id, clientId), findGrantingClient(db, clientId)]);
  if (client === null || granting === null) return refuse("not_found");
  const returnUrls = change.returnUrls === undefined ? ok(client.returnUrls) : parseReturnUrls(services, granting, change.returnUrls);
  if (!returnUrls.ok) return returnUrls;
  const settings = {
    ...(change.returnUrls !== undefined && { returnUrls: returnUrls.value }),
    ...(change.requireOrigin !== undefined && { requireOrigin: change.requireOrigin }),
  };
  const updated = { ...client, ...settings };
  const actions = listChanges(client, updated);
  if (actions.length > 0) {
    const statement = updateStoredClient(db, business.id, clientId, settings);
    await commitWithAudit(services, member, [statement], actions, { onlyIf: hasPreviousChange() });
  }
  return ok(updated);
};
