// Implements DELETE /v1/business/portal/recipients.
import type { MemberSession } from "../../../core/access/session.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { trimWhiteSpace } from "../../../core/text.ts";
import {
  deleteLinkedRecipient,
  findLinkedRecipient,
  type LinkedRecipient,
  type RecipientLink,
} from "../../../storage/linked-recipients.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";
import { toLinkAction } from "./link-recipient.ts";

/** Removes a link. After this, the linked business cannot call `match` under that name. Can return `not_found`. */
export const unlinkRecipient = async (
  services: WriteDependencies,
  member: MemberSession,
  request: RecipientLink,
): Promise<Result<LinkedRecipient, "not_found">> => {
  const { id } = member.business;
  const db = getBusinessDatabase(services, member);
  const found = await findLinkedRecipient(db, id, { ...request, entity: trimWhiteSpace(request.entity) });
  if (found === null) return refuse("not_found");
  const action = toLinkAction(member, "recipient.unlinked", found);
  await commitWithAudit(services, member, [deleteLinkedRecipient(db, id, found)], action, { onlyIf: hasPreviousChange() });
  return ok(found);
};
