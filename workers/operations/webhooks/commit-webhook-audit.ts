// Commits audit entries about webhook endpoints.
import type { MemberSession } from "../../../core/access/session.ts";
import type { DomainEventType, AuditedAction } from "../../../core/domain-events.ts";
import type { WebhookId } from "../../../core/ids.ts";
import type { Statement } from "../../../storage/database.ts";
import type { Condition } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit } from "../portal/commit-with-audit.ts";

/** Commits an audit entry together with `statements`. If `onlyIf` is given, writes the entry only if this condition is true. */
export const commitWebhookAudit = (
  services: WriteDependencies,
  member: MemberSession,
  type: Extract<DomainEventType, `webhook.${string}`>,
  id: WebhookId,
  payload: AuditedAction["payload"] = {},
  statements: readonly Statement[] = [],
  onlyIf?: Condition,
): Promise<void> =>
  commitWithAudit(
    services,
    member,
    statements,
    { type, entityType: "webhook", entityId: id, payload },
    onlyIf === undefined ? {} : { onlyIf },
  );
