// What a business is told of a request that was refused, by the number that stands in its answer.
import type { MemberSession } from "../../../core/access/session.ts";
import type { BusinessId, ClientId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { businessOfClient } from "../../../storage/accounts.ts";
import { keepRefused, refusedRequest, type RefusedRequest } from "../../../storage/refused-requests.ts";
import type { Counters, Runtime, Stores } from "../../services.ts";

export type { RefusedRequest };

/** Told to the business of the caller, else to that of the client id. Nothing where nobody's business was concerned, or where it has had as many refusals as are kept of a day. */
export const noteRefused = async (
  services: Runtime & Stores & Counters,
  requestId: string,
  known: BusinessId | null,
  request: Omit<RefusedRequest, "clientId"> & { readonly clientId: ClientId | null },
): Promise<void> => {
  const { clientId } = request;
  const businessId = known ?? (clientId === null ? null : await businessOfClient(services.homes.of(clientId), clientId));
  if (businessId === null) return;
  const { allowed } = await services.takeExactly("REFUSALS_KEPT", businessId);
  if (allowed) await keepRefused(services.kv, businessId, requestId, request);
};

/** One answer for what is another business's, what was not refused and what nobody ever sent. */
export const findRefused = async (
  services: Runtime & Stores,
  member: MemberSession,
  requestId: string,
): Promise<Result<RefusedRequest, "not_found">> => {
  const found = await refusedRequest(services.kv, member.business.id, requestId, services.clock());
  return found === null ? refuse("not_found") : ok(found);
};
