// Reads a share for the person who granted it.
import type { Person } from "../../../core/access/principal.ts";
import type { ShareId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import type { Found } from "../../../storage/database.ts";
import { openRevocationReason, openAcknowledgementNote } from "../../../storage/share-changes.ts";
import { findPersonShare } from "../../../storage/shares.ts";
import type { ReadDependencies } from "../dependencies.ts";

export interface OwnShare extends Omit<Found<typeof findPersonShare>, "reasonSealed" | "acknowledgementSealed"> {
  readonly reason: string | null;
  /** The note from the business's acknowledgment. */
  readonly note: string | null;
}

/** Returns the share, or `not_found` for unknown shares and other people's shares. */
export const getOwnShare = async (
  { shards, vault, clock }: ReadDependencies,
  { id: consumerId }: Person,
  id: ShareId | null,
): Promise<Result<OwnShare, "not_found">> => {
  const found = id === null ? null : await findPersonShare(shards.forId(id), id, consumerId, clock());
  if (found === null) return refuse("not_found");
  const { reasonSealed, acknowledgementSealed, ...rest } = found;
  const [reason, note] = await Promise.all([
    openRevocationReason(vault, rest.share, reasonSealed),
    openAcknowledgementNote(vault, rest.share, acknowledgementSealed),
  ]);
  return ok({ ...rest, reason, note });
};
