import type { MemberSession } from "../../../core/access/session.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseName } from "../../../core/text.ts";
import { insertSavedView, isSavedViewLimitReached, isSavedViewNameTaken, type SavedView } from "../../../storage/saved-views.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";
import { listSavedViews } from "./list-saved-views.ts";

const maxNameLength = 60;

const nameTakenMessage = "name: another view has this name.";

const viewLimitMessage = "name: there are as many views as there may be. Remove one first.";

export const toViewAction = ({ business }: MemberSession, type: "view.saved" | "view.removed") =>
  ({ type, entityType: "business", entityId: business.id }) as const;

/** The same view under the same name is there already: sent twice, it is one. */
export const createSavedView = async (
  services: WriteDependencies,
  member: MemberSession,
  asked: SavedView,
): Promise<Result<SavedView, "invalid_request">> => {
  const chosen = parseName(asked.name, maxNameLength);
  if (!chosen.ok) return chosen;
  const view = { name: chosen.value, query: asked.query };
  const db = getBusinessDatabase(services, member);
  const at = services.clock();
  try {
    await commitWithAudit(services, member, [insertSavedView(db, member.business.id, view, at)], toViewAction(member, "view.saved"), {
      at,
    });
  } catch (error) {
    if (!isSavedViewLimitReached(error) && !isSavedViewNameTaken(error)) throw error;
    const isKept = (await listSavedViews(services, member)).some(({ name, query }) => name === view.name && query === view.query);
    if (!isKept) return refuse("invalid_request", isSavedViewNameTaken(error) ? nameTakenMessage : viewLimitMessage);
  }
  return ok(view);
};
