// What leaves the portal as a file is entered in the audit chain, with who took it, before the first byte of it is sent.
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

/** Of the business as a whole, or of one of its endpoints. */
export const recordExport = (
  services: WriteDependencies,
  member: MemberSession,
  exported: ListExport,
  endpoint: WebhookId | null = null,
): Promise<void> => {
  const about =
    endpoint === null
      ? ({ entityType: "business", entityId: member.business.id } as const)
      : ({ entityType: "webhook", entityId: endpoint } as const);
  return commitWithAudit(services, member, [], { type: "list.exported", ...about, payload: { ...exported } });
};
