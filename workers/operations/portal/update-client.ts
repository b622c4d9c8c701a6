// Implements PATCH /v1/business/portal/clients/{client_id}. Registers the URLs that share requests can return to.
import type { MemberSession } from "../../../core/access/session.ts";
import { getOriginRules, verifyOrigin } from "../../../core/access/origins.ts";
import { toCanonicalJson } from "../../../core/canonical-json.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { ClientId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { findOwnClient, updateReturnUrls as updateStoredReturnUrls, type Client } from "../../../storage/clients.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";

export const maxReturnUrls = 20;
const maxReturnUrlLength = 2_048;

/**
 * Replaces the client's return URLs. A share request must use exactly one of these URLs. Writes nothing if the list is unchanged. Returns
 * `not_found` for a client of another business, and `invalid_request` for more than 20 URLs, an invalid URL, or a URL that is not on a
 * verified domain.
 */
export const updateReturnUrls = async (
  services: WriteDependencies,
  member: MemberSession,
  clientId: ClientId,
  given: readonly string[],
): Promise<Result<Client, "not_found" | "invalid_request">> => {
  const db = getBusinessDatabase(services, member);
  const { business } = member;
  const [client, granting] = await Promise.all([findOwnClient(db, business.id, clientId), findGrantingClient(db, clientId)]);
  if (client === null || granting === null) return refuse("not_found");
  const rules = getOriginRules(services.config, granting);
  const urls: string[] = [];
  for (const text of given) {
    const url = text.length <= maxReturnUrlLength && URL.canParse(text) ? new URL(text) : null;
    if (
      url === null ||
      url.username !== "" ||
      url.password !== "" ||
      url.hash !== "" ||
      !verifyOrigin(url.origin, granting.domains, rules).ok
    )
      return refuse("invalid_request", "return_urls: each must be a URL on one of your verified domains, without a fragment.");
    if (!urls.includes(url.href)) urls.push(url.href);
  }
  if (urls.length > maxReturnUrls) return refuse("invalid_request", `return_urls: must contain at most ${maxReturnUrls} URLs.`);
  if (toCanonicalJson(urls) === toCanonicalJson([...client.returnUrls])) return ok(client);
  const payload = { count: urls.length, urls_hash: sha256Hex(toCanonicalJson(urls)) };
  const action = { type: "client.return_urls_changed", entityType: "client", entityId: clientId, payload } as const;
  await commitWithAudit(services, member, [updateStoredReturnUrls(db, business.id, clientId, urls)], action);
  return ok({ ...client, returnUrls: urls });
};
