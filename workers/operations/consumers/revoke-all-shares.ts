// Revokes a person's shares with one business.
import type { Person } from "../../../core/access/principal.ts";
import type { BusinessId } from "../../../core/ids.ts";
import type { Instant } from "../../../core/time.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { revokeShareByPerson } from "../shares/revoke-share-by-person.ts";
import { listOwnSharesWithBusiness } from "./list-own-shares.ts";

export interface RevokedShares {
  readonly revoked: number;
  /** The number of shares that this call found active but did not revoke. One call revokes at most 50. */
  readonly remaining: number;
  readonly ceaseBy: Instant | null;
}

const maxAtOnce = 50; // revoking one share takes about five round trips

/** Revokes up to 50 active shares, each in its own transaction. Skips shares that end in the meantime. */
export const revokeAllShares = async (
  services: WriteDependencies,
  person: Person,
  businessId: BusinessId,
  requestId: string,
): Promise<RevokedShares> => {
  const active = (await listOwnSharesWithBusiness(services, person, businessId)).filter(({ status }) => status === "active");
  let revokedCount = 0;
  let ceaseBy: Instant | null = null;
  for (const { id } of active.slice(0, maxAtOnce)) {
    const revoked = await revokeShareByPerson(services, id, { person }, { reason: null, requestId });
    if (!revoked.ok) continue;
    revokedCount += 1;
    ceaseBy = revoked.value.ceaseBy;
  }
  return { revoked: revokedCount, remaining: active.length - revokedCount, ceaseBy };
};
