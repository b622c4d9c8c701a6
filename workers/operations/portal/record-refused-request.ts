// Saves a refused API request, so that the business can look it up in the portal.
import type { BusinessId, ClientId } from "../../../core/ids.ts";
import { findBusinessIdByClient } from "../../../storage/accounts.ts";
import { saveRefusedRequest, type RefusedRequest } from "../../../storage/refused-requests.ts";
import type { PortalDependencies } from "./dependencies.ts";

/**
 * Saves the refusal for the caller's business or, if the caller is unknown, for the business of the client ID. Saves nothing if neither is
 * known, or if the business has reached its limit of saved refusals. Unknown callers have a separate limit, so that someone who only knows
 * a client ID cannot use up the business's limit.
 */
export const recordRefusedRequest = async (
  services: PortalDependencies,
  requestId: string,
  callerBusinessId: BusinessId | null,
  request: Omit<RefusedRequest, "clientId"> & { readonly clientId: ClientId | null },
): Promise<void> => {
  const { clientId } = request;
  const businessId =
    callerBusinessId ?? (clientId === null ? null : await findBusinessIdByClient(services.shards.forId(clientId), clientId));
  if (businessId === null) return;
  const { isAllowed } = await services.takeExactly("REFUSALS_KEPT", callerBusinessId === null ? `${businessId} public` : businessId);
  if (isAllowed) await saveRefusedRequest(services.kv, businessId, requestId, request);
};
