// Endpoints live in a log of the business, live or of its sandbox, and the audit entries in its database; no batch spans the two. So an entry
// is committed before its change is made: a process that dies between them leaves an entry too many and never a change that nobody can
// account for.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { Act, FactType } from "../../../core/facts.ts";
import type { BusinessId, WebhookId } from "../../../core/ids.ts";
import type { Statement } from "../../../storage/database.ts";
import type { Events, Runtime, Schedules, Stores } from "../../services.ts";
import { commitAct } from "../portal/commit-act.ts";

export const environments = ["live", "sandbox"] as const satisfies readonly Environment[];

/**
 * Which of the two holds an endpoint: an id does not say, and the live one is asked first, so only what belongs to the sandbox costs a
 * second question. Null for an endpoint that is not this business's.
 */
export const logHolding = async (services: Events, businessId: BusinessId, id: WebhookId) => {
  for (const environment of environments) {
    const log = services.businessLog(businessId, environment);
    const settings = await log.settings(id);
    if (settings !== null) return { log, environment, settings };
  }
  return null;
};

/** Commits an entry of the audit chain, with rows beside it; throws when it cannot. */
export const enter = (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  type: Extract<FactType, `webhook.${string}`>,
  id: WebhookId,
  payload: Act["payload"] = {},
  rows: readonly Statement[] = [],
): Promise<void> => commitAct(services, member, rows, { type, entityType: "webhook", entityId: id, payload });
