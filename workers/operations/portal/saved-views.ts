// Views of its certificates that a business keeps by name.
import type { MemberSession } from "../../../core/access/session.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { chosenName } from "../../../core/text.ts";
import { changedBefore } from "../../../storage/query.ts";
import { deleteView, insertView, isTakenName, isTooManyViews, viewsOf, type SavedView } from "../../../storage/saved-views.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { commitAct, homeOf } from "./commit-act.ts";

export type { SavedView };

const maxNameLength = 60;
const takenName = "name: another view has this name.";
const tooMany = "name: there are as many views as there may be. Remove one first.";

/** By name. */
export const listViews = (services: Stores, member: MemberSession): Promise<readonly SavedView[]> =>
  viewsOf(homeOf(services, member), member.business.id);

const actOf = ({ business }: MemberSession, type: "view.saved" | "view.removed") =>
  ({ type, entityType: "business", entityId: business.id }) as const;

/** The same view under the same name is there already: sent twice, it is one. */
export const saveView = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  asked: SavedView,
): Promise<Result<SavedView, "invalid_request">> => {
  const chosen = chosenName(asked.name, maxNameLength);
  if (!chosen.ok) return chosen;
  const view = { name: chosen.value, query: asked.query };
  const db = homeOf(services, member);
  const at = services.clock();
  try {
    await commitAct(services, member, [insertView(db, member.business.id, view, at)], actOf(member, "view.saved"), { at });
  } catch (error) {
    if (!isTooManyViews(error) && !isTakenName(error)) throw error;
    const isKept = (await listViews(services, member)).some(({ name, query }) => name === view.name && query === view.query);
    if (!isKept) return refuse("invalid_request", isTakenName(error) ? takenName : tooMany);
  }
  return ok(view);
};

/** Nothing is entered where there is none. */
export const removeView = (services: Runtime & Stores & Schedules, member: MemberSession, name: string): Promise<void> =>
  commitAct(services, member, [deleteView(homeOf(services, member), member.business.id, name)], actOf(member, "view.removed"), {
    onlyIf: changedBefore(),
  });
