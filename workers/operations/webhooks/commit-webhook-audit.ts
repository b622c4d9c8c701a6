// Commits audit entries about webhook endpoints.
import type { MemberSession } from "../../../core/access/session.ts";
import type { DomainEventType, AuditedAction } from "../../../core/domain-events.ts";
import type { WebhookId } from "../../../core/ids.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit } from "../portal/commit-with-audit.ts";

export const commitWebhookAudit = (
  services: WriteDependencies,
  member: MemberSession,
  type: Extract<DomainEventType, `webhook.${string}`>,
  id: WebhookId,
  payload: AuditedAction["payload"] = {},
): Promise<void> => commitWithAudit(services, member, [], { type, entityType: "webhook", entityId: id, payload });
