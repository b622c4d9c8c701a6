// A person ends everything that they share with one business.
import type { Person } from "../../../core/access/principal.ts";
import type { Instant } from "../../../core/time.ts";
import { revokeByPerson, type RevokeServices } from "../shares/revoke.ts";
import { listOwnShares } from "./profile.ts";

export interface StoppedShares {
  readonly stopped: number;
  /** Those of them that are active still: the rest is for the next press. */
  readonly left: number;
  readonly ceaseBy: Instant | null;
}

const maxAtOnce = 50; // each is some five round trips

/** Ends every active share with a business, one after the other; each is a change of its own. */
export const stopAllWith = async (
  services: RevokeServices,
  person: Person,
  businessId: string,
  requestId: string,
): Promise<StoppedShares> => {
  const { shares } = await listOwnShares(services, person);
  const active = shares.filter(({ status, business }) => status === "active" && business.id === businessId);
  let stopped = 0;
  let ceaseBy: Instant | null = null;
  for (const { id } of active.slice(0, maxAtOnce)) {
    const revoked = await revokeByPerson(services, id, { person }, { reason: null, requestId });
    if (!revoked.ok) continue;
    stopped += 1;
    ceaseBy = revoked.value.ceaseBy;
  }
  return { stopped, left: active.length - stopped, ceaseBy };
};
