import type { BusinessId, ClientId } from "../../../core/ids.ts";
import { findBusinessIdByClient } from "../../../storage/accounts.ts";
import { saveRefusedRequest, type RefusedRequest } from "../../../storage/refused-requests.ts";
import type { PortalDependencies } from "./dependencies.ts";

/** Told to the business of the caller, else to that of the client id. Nothing where nobody's business was concerned, or where it has had as many refusals as are kept of a day. */
export const recordRefusedRequest = async (
  services: PortalDependencies,
  requestId: string,
  known: BusinessId | null,
  request: Omit<RefusedRequest, "clientId"> & { readonly clientId: ClientId | null },
): Promise<void> => {
  const { clientId } = request;
  const businessId = known ?? (clientId === null ? null : await findBusinessIdByClient(services.shards.forId(clientId), clientId));
  if (businessId === null) return;
  const { isAllowed } = await services.takeExactly("REFUSALS_KEPT", businessId);
  if (isAllowed) await saveRefusedRequest(services.kv, businessId, requestId, request);
};
