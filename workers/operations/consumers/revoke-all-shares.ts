// A person ends everything that they share with one business.
import type { Person } from "../../../core/access/principal.ts";
import type { Instant } from "../../../core/time.ts";
import type { RevokeServices } from "../shares/commit-revocation.ts";
import { revokeShareByPerson } from "../shares/revoke-share-by-person.ts";
import { listOwnShares } from "./list-own-shares.ts";

export interface RevokedShares {
  readonly revoked: number;
  /** Those of them that are active still: the rest is for the next press. */
  readonly remaining: number;
  readonly ceaseBy: Instant | null;
}

const maxAtOnce = 50; // each is some five round trips

/** Ends every active share with a business, one after the other; each is a change of its own. */
export const revokeAllShares = async (
  services: RevokeServices,
  person: Person,
  businessId: string,
  requestId: string,
): Promise<RevokedShares> => {
  const { shares } = await listOwnShares(services, person);
  const active = shares.filter(({ status, business }) => status === "active" && business.id === businessId);
  let stopped = 0;
  let ceaseBy: Instant | null = null;
  for (const { id } of active.slice(0, maxAtOnce)) {
    const revoked = await revokeShareByPerson(services, id, { person }, { reason: null, requestId });
    if (!revoked.ok) continue;
    stopped += 1;
    ceaseBy = revoked.value.ceaseBy;
  }
  return { revoked: stopped, remaining: active.length - stopped, ceaseBy };
};
