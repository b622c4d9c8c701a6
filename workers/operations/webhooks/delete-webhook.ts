// Implements DELETE /v1/webhooks/{webhook_id}.
import type { MemberSession } from "../../../core/access/session.ts";
import type { WebhookId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { hasNoAuditEntryOf } from "../../../storage/audit-entries.ts";
import type { WebhookWriteDependencies } from "./dependencies.ts";
import { commitWithAudit } from "../portal/commit-with-audit.ts";
import { findEventSequence } from "./find-event-sequence.ts";

/**
 * Commits the audit entry, and then deletes the endpoint. Only the first of several requests for the same endpoint writes an entry. Can
 * return `not_found`.
 */
export const deleteWebhook = async (
  services: WebhookWriteDependencies,
  member: MemberSession,
  id: WebhookId,
): Promise<Result<WebhookId, "not_found">> => {
  const found = await findEventSequence(services, member.business.id, id);
  if (found === null) return refuse("not_found");
  const action = { type: "webhook.deleted", entityType: "webhook", entityId: id } as const;
  await commitWithAudit(services, member, [], action, { onlyIf: hasNoAuditEntryOf(action.type, id) });
  return (await found.eventSequence.removeEndpoint(id)) ? ok(id) : refuse("not_found");
};
