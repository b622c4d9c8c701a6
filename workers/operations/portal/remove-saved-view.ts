// Removes one of the business's saved views.
import type { MemberSession } from "../../../core/access/session.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import { deleteSavedView } from "../../../storage/saved-views.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";
import { toViewAction } from "./create-saved-view.ts";

/** Removes a view by name. Does nothing, and adds no audit entry, if there is no such view. */
export const removeSavedView = (services: WriteDependencies, member: MemberSession, name: string): Promise<void> =>
  commitWithAudit(
    services,
    member,
    [deleteSavedView(getBusinessDatabase(services, member), member.business.id, name)],
    toViewAction(member, "view.removed"),
    {
      onlyIf: hasPreviousChange(),
    },
  );
