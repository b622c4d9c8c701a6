// Implements PATCH /v1/business/portal.
import type { MemberSession } from "../../../core/access/session.ts";
import { parseProfileChange, type BusinessProfileChange } from "../../../core/accounts/profile.ts";
import { ok, type Result } from "../../../core/result.ts";
import { updateBusinessProfile, type BusinessAccount } from "../../../storage/business-profiles.ts";
import { hasPreviousChange } from "../../../storage/query.ts";
import type { PhoneNumbers, WriteDependencies } from "../dependencies.ts";
import { commitWithAudit, getBusinessDatabase } from "./commit-with-audit.ts";
import { getAccount } from "./get-account.ts";

/**
 * Updates the account and records the names of the changed fields. Writes nothing if nothing changes. Issued certificates keep the earlier
 * profile. Can return `invalid_request`.
 */
export const updateAccount = async (
  services: WriteDependencies & PhoneNumbers,
  member: MemberSession,
  input: BusinessProfileChange,
): Promise<Result<BusinessAccount, "invalid_request">> => {
  const before = await getAccount(services, member);
  const change = parseProfileChange(input, before, services.toE164);
  if (!change.ok) return change;
  const changed = (Object.keys(change.value) as (keyof BusinessProfileChange)[]).filter((key) => change.value[key] !== before[key]).sort();
  if (changed.length === 0) return ok(before);
  const { id } = member.business;
  const action = { type: "business.profile_changed", entityType: "business", entityId: id, payload: { changed } } as const;
  const statement = updateBusinessProfile(getBusinessDatabase(services, member), id, change.value);
  await commitWithAudit(services, member, [statement], action, { onlyIf: hasPreviousChange() });
  return ok(await getAccount(services, member));
};
