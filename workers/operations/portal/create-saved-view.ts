// Saves a filtered portal list under a name.
import type { MemberSession } from "../../../core/access/session.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { parseName } from "../../../core/text.ts";
import {
  insertSavedView,
  isSavedViewLimitReached,
  isSavedViewNameTaken,
  listViewsByBusiness,
  type SavedView,
} from "../../../storage/saved-views.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { getBusinessDatabase, commitWithAudit } from "./commit-with-audit.ts";

const maxNameLength = 60;

const nameTakenMessage = "name: must be unique. Another view has this name.";

const viewLimitMessage = "name: saved view limit reached (20). Remove an unused view first.";

/** Returns the audited action for saving or removing a view. */
export const toViewAction = ({ business }: MemberSession, type: "view.saved" | "view.removed") =>
  ({ type, entityType: "business", entityId: business.id }) as const;

/**
 * Saves a view. Saving the same view under the same name again changes nothing and succeeds. Returns `invalid_request` if the name is
 * invalid or already used, or if the limit is reached.
 */
export const createSavedView = async (
  services: WriteDependencies,
  member: MemberSession,
  input: SavedView,
): Promise<Result<SavedView, "invalid_request">> => {
  const name = parseName(input.name, maxNameLength);
  if (!name.ok) return name;
  const view = { name: name.value, query: input.query };
  const db = getBusinessDatabase(services, member);
  const at = services.clock();
  try {
    await commitWithAudit(services, member, [insertSavedView(db, member.business.id, view, at)], toViewAction(member, "view.saved"), {
      at,
    });
  } catch (error) {
    if (!isSavedViewLimitReached(error) && !isSavedViewNameTaken(error)) throw error;
    const isSaved = (await listViewsByBusiness(db, member.business.id)).some(
      (saved) => saved.name === view.name && saved.query === view.query,
    );
    if (!isSaved) return refuse("invalid_request", isSavedViewNameTaken(error) ? nameTakenMessage : viewLimitMessage);
  }
  return ok(view);
};
