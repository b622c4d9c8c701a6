// Implements GET /v1/business/portal/requests/{request_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { findRefusedRequest, type RefusedRequest } from "../../../storage/refused-requests.ts";
import type { ReadDependencies } from "../dependencies.ts";

/** Returns the refused request. Returns `not_found` for other businesses' requests, successful requests and unknown IDs. */
export const getRefusedRequest = async (
  services: ReadDependencies,
  member: MemberSession,
  requestId: string,
): Promise<Result<RefusedRequest, "not_found">> => {
  const found = await findRefusedRequest(services.kv, member.business.id, requestId, services.clock());
  return found === null ? refuse("not_found") : ok(found);
};
