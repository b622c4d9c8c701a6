// Resolves the client id of a form submission to its account, once per request: rate limiting and issuing use the same value.
import { getOriginRules, verifyOrigin, type VerifiedHost } from "../../../core/access/origins.ts";
import type { ClientId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import { findIssuingClient, type IssuingClient } from "../../../storage/accounts.ts";
import type { CertificateDependencies } from "./dependencies.ts";

export interface SubmissionClient {
  readonly id: ClientId;
  /** Can be outdated, because it may come from the cache. */
  readonly account: IssuingClient;
  /** Host of the Origin header, verified against the account's domains. */
  readonly origin: Result<VerifiedHost, "origin_not_verified">;
}

const toSubmissionClient = (
  { config }: CertificateDependencies,
  id: ClientId,
  account: IssuingClient,
  originHeader: string | null,
): SubmissionClient => ({ id, account, origin: verifyOrigin(originHeader, account.domains, getOriginRules(config, account)) });

/** Reads the account from the database and caches it. Null for an unknown client id. */
export const readSubmissionClient = async (
  services: CertificateDependencies,
  id: ClientId,
  originHeader: string | null,
): Promise<SubmissionClient | null> => {
  const account = await findIssuingClient(services.shards.forId(id), id);
  if (account === null) {
    services.cachedClients.delete(id);
    return null;
  }
  services.cachedClients.set(id, account);
  return toSubmissionClient(services, id, account, originHeader);
};

/**
 * Takes the account from this isolate's cache, otherwise reads it. A cached account may only lead to acceptance: before a refusal, the
 * caller reads it again. Null, always after a read, for an unknown client id.
 */
export const resolveSubmissionClient = async (
  services: CertificateDependencies,
  id: ClientId,
  originHeader: string | null,
): Promise<SubmissionClient | null> => {
  const cached = services.cachedClients.get(id);
  return cached === undefined ? readSubmissionClient(services, id, originHeader) : toSubmissionClient(services, id, cached, originHeader);
};
