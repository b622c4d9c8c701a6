import { verifyOrigin, getOriginRules } from "../../../core/access/origins.ts";
import type { RateLimitState } from "../../../core/access/rate-limit.ts";
import type { ClientId } from "../../../core/ids.ts";
import { findIssuingClient } from "../../../storage/accounts.ts";
import type { SubmissionCountDependencies } from "./dependencies.ts";

/** Counts a submission without an API key toward its client; null where its Origin is not the client's, so that it counts for its sender alone. */
export const countSubmission = async (
  services: SubmissionCountDependencies,
  clientId: ClientId,
  originHeader: string | null,
): Promise<RateLimitState | null> => {
  const business = services.cachedClients.get(clientId) ?? (await findIssuingClient(services.shards.forId(clientId), clientId));
  if (business === null || !verifyOrigin(originHeader, business.domains, getOriginRules(services.config, business)).ok) return null;
  services.cachedClients.set(clientId, business);
  return services.takeByAddress("CONSENT_PER_CLIENT", clientId);
};
