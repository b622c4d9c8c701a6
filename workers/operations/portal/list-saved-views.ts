// Lists the business's saved views.
import type { MemberSession } from "../../../core/access/session.ts";
import { listViewsByBusiness, type SavedView } from "../../../storage/saved-views.ts";
import type { Stores } from "../dependencies.ts";
import { getBusinessDatabase } from "./commit-with-audit.ts";

/** Lists saved views by name. */
export const listSavedViews = (services: Stores, member: MemberSession): Promise<readonly SavedView[]> =>
  listViewsByBusiness(getBusinessDatabase(services, member), member.business.id);
