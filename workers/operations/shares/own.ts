// One share as its person reads it: in full, with what both sides wrote.
import type { Person } from "../../../core/access/principal.ts";
import type { PublishedAnchor } from "../../../core/certificates/published.ts";
import type { FactType } from "../../../core/facts.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { openNote, openReason } from "../../../storage/share-changes.ts";
import { shareOfPerson } from "../../../storage/person-shares.ts";
import type { Runtime, Stores } from "../../services.ts";

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
  /** When the business was last told of a change of the values. */
  readonly updateSentAt: Instant | null;
}

/** Refuses `not_found` for unknown shares and somebody else's alike. */
export const readOwnShare = async (
  services: Runtime & Stores,
  { id: consumerId }: Person,
  id: ShareId | null,
): Promise<Result<OwnShare, "not_found">> => {
  const found = id === null ? null : await shareOfPerson(services.homes.of(id), id, consumerId, services.clock());
  if (found === null) return refuse("not_found");
  const { reasonSealed, acknowledgementSealed, ...rest } = found;
  const [reason, note] = await Promise.all([
    openReason(services.vault, rest.share, reasonSealed),
    openNote(services.vault, rest.share, acknowledgementSealed),
  ]);
  return ok({ ...rest, reason, note });
};
