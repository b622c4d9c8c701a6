import type { MemberSession } from "../../../core/access/session.ts";
import { parseProfileChange, type BusinessProfileChange } from "../../../core/accounts/profile.ts";
import { ok, type Result } from "../../../core/result.ts";
import { updateBusinessProfile, type BusinessAccount } from "../../../storage/business-profiles.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";
import { getAccount } from "./get-account.ts";

/** Certificates that were issued keep what stood when they were. Nothing is written where nothing changes. */
export const updateAccount = async (
  services: WriteDependencies,
  member: MemberSession,
  asked: BusinessProfileChange,
): Promise<Result<BusinessAccount, "invalid_request">> => {
  const chosen = parseProfileChange(asked);
  if (!chosen.ok) return chosen;
  const before = await getAccount(services, member);
  const changed = (Object.keys(chosen.value) as (keyof BusinessProfileChange)[]).filter((key) => chosen.value[key] !== before[key]).sort();
  if (changed.length === 0) return ok(before);
  const { id } = member.business;
  const act = { type: "business.profile_changed", entityType: "business", entityId: id, payload: { changed } } as const;
  await commitWithAudit(services, member, [updateBusinessProfile(getBusinessDatabase(services, member), id, chosen.value)], act);
  return ok(await getAccount(services, member));
};
