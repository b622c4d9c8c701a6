// Implements GET /v1/business/portal/recipients.
import type { MemberSession } from "../../../core/access/session.ts";
import { listLinkedRecipients as listByIssuer, type LinkedRecipient } from "../../../storage/linked-recipients.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Lists the recipients that the business has linked, sorted by name. */
export const listLinkedRecipients = (services: Stores, member: MemberSession): Promise<readonly LinkedRecipient[]> =>
  listByIssuer(getBusinessDatabase(services, member), member.business.id);
