// What a business sees first: what happened to its certificates and duties of late.
import { activityOf, activitySince, type Activity, type Figures } from "../../../core/accounts/activity.ts";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { countedDays } from "../../../storage/activity.ts";
import type { Runtime, Stores } from "../../services.ts";
import { homeOf } from "./commit-act.ts";

export type { Activity, Figures };

export const readActivity = async (services: Runtime & Stores, member: MemberSession, environment: Environment): Promise<Activity> => {
  const now = services.clock();
  const asked = { businessId: member.business.id, environment };
  return activityOf(await countedDays(homeOf(services, member), asked, activitySince(now)), now);
};
