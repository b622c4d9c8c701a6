// A person's own view of their shares: one of them in full, and ending all with one business.
import type { Person } from "../../../core/access/principal.ts";
import type { PublishedAnchor } from "../../../core/certificates/published.ts";
import type { FactType } from "../../../core/facts.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { openNote, openReason } from "../../../storage/share-changes.ts";
import { shareOfPerson } from "../../../storage/shares.ts";
import type { Runtime, Stores } from "../../services.ts";
import { revokeByPerson, type RevokeServices } from "../shares/revoke.ts";
import { listOwnShares } from "./profile.ts";

export interface OwnShare {
  readonly share: Share;
  readonly disclosureText: string;
  readonly anchor: PublishedAnchor | null;
  readonly history: readonly { readonly at: Instant; readonly type: FactType }[];
  /** Why the person stopped, in their words. */
  readonly reason: string | null;
  /** What the business wrote when it acknowledged. */
  readonly note: string | null;
  readonly contact: string | null;
}

/** Refuses `not_found` for unknown shares and somebody else's alike. */
export const readOwnShare = async (
  services: Runtime & Stores,
  { id: consumerId }: Person,
  id: ShareId | null,
): Promise<Result<OwnShare, "not_found">> => {
  const db = id === null ? null : services.homes.of(id);
  const found = id === null || db === null ? null : await shareOfPerson(db, id, consumerId, services.clock());
  if (found === null) return refuse("not_found");
  const { reasonSealed, acknowledgementSealed, ...rest } = found;
  const [reason, note] = await Promise.all([
    openReason(services.vault, rest.share, reasonSealed),
    openNote(services.vault, rest.share, acknowledgementSealed),
  ]);
  return ok({ ...rest, reason, note });
};

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
