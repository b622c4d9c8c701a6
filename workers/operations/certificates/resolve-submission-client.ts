// Resolves a form submission's client ID to its account. Runs once per request, so that rate limiting and issuing use the same account.
import { getOriginRules, verifyOrigin, type VerifiedHost } from "../../../core/access/origins.ts";
import type { ClientId } from "../../../core/ids.ts";
import type { Result } from "../../../core/result.ts";
import { findIssuingClient, type IssuingClient } from "../../../storage/accounts.ts";
import type { CertificateDependencies } from "./dependencies.ts";

export interface SubmissionClient {
  readonly id: ClientId;
  /** May be outdated, because it can come from the cache. */
  readonly account: IssuingClient;
  /** The Origin header's host, verified against the account's domains. */
  readonly origin: Result<VerifiedHost, "origin_not_verified">;
}

const toSubmissionClient = (
  { config }: CertificateDependencies,
  id: ClientId,
  account: IssuingClient,
  originHeader: string | null,
): SubmissionClient => ({ id, account, origin: verifyOrigin(originHeader, account.domains, getOriginRules(config, account)) });

/** Reads the account from the database and caches it. Returns null for an unknown client ID. */
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
 * Returns the account from this isolate's cache or the database. A cached account is good enough to accept a submission, but the caller
 * must read the account again before returning an error. Returns null only after a read has found that the client ID is unknown.
 */
export const resolveSubmissionClient = async (
  services: CertificateDependencies,
  id: ClientId,
  originHeader: string | null,
): Promise<SubmissionClient | null> => {
  const cached = services.cachedClients.get(id);
  return cached === undefined ? readSubmissionClient(services, id, originHeader) : toSubmissionClient(services, id, cached, originHeader);
};
