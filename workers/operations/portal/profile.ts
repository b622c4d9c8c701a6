// The account of a business, as its own people read and change it.
import { chosenProfile, type ProfileChange } from "../../../core/accounts/profile.ts";
import type { MemberSession } from "../../../core/access/session.ts";
import { ok, type Result } from "../../../core/result.ts";
import type { Lookup } from "../../../storage/lookups.ts";
import { accountById, changeProfile, type Account } from "../../../storage/profiles.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { commitAct, homeOf } from "./commit-act.ts";

export type { Account };

export const readAccount = (services: Stores, member: MemberSession): Lookup<Account> =>
  accountById(homeOf(services, member), member.business.id).map((account) => account as Account);

/** Certificates that were issued keep what stood when they were. Nothing is written where nothing changes. */
export const changeAccount = async (
  services: Runtime & Stores & Schedules,
  member: MemberSession,
  asked: ProfileChange,
): Promise<Result<Account, "invalid_request">> => {
  const chosen = chosenProfile(asked);
  if (!chosen.ok) return chosen;
  const before = await readAccount(services, member);
  const changed = (Object.keys(chosen.value) as (keyof ProfileChange)[]).filter((key) => chosen.value[key] !== before[key]).sort();
  if (changed.length === 0) return ok(before);
  const { id } = member.business;
  const act = { type: "business.profile_changed", entityType: "business", entityId: id, payload: { changed } } as const;
  await commitAct(services, member, [changeProfile(homeOf(services, member), id, chosen.value)], act);
  return ok(await readAccount(services, member));
};
