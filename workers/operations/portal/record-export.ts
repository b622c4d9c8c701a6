// Records an export from the portal in the audit chain. The caller must wait for the commit before it sends the first byte of the file.
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import type { WebhookId } from "../../../core/ids.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit } from "./commit-with-audit.ts";

export interface ListExport {
  readonly list: "certificates" | "certificate_days" | "certificate_months" | "duty_months" | "attempt_hours";
  readonly environment: Environment;
  readonly rows: number;
}

/**
 * Records who exported which list. If the list belongs to an endpoint, the entry is about the endpoint. Otherwise, it is about the
 * business.
 */
export const recordExport = (
  services: WriteDependencies,
  member: MemberSession,
  exported: ListExport,
  endpoint: WebhookId | null = null,
): Promise<void> => {
  const subject =
    endpoint === null
      ? ({ entityType: "business", entityId: member.business.id } as const)
      : ({ entityType: "webhook", entityId: endpoint } as const);
  return commitWithAudit(services, member, [], { type: "list.exported", ...subject, payload: { ...exported } });
};
