// The business says that it has ceased contact under a share that was stopped. Once a share; a second time answers with the first.
import { mayWrite } from "../../../core/access/entitlement.ts";
import type { Principal } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { writtenAt } from "../../../core/facts.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { acknowledgeShare } from "../../../core/shares/end.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { CeaseDetails } from "../../../core/withdrawals/acknowledge.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import { isOutdatedShare, updateCeased } from "../../../storage/share-changes.ts";
import { changeableShare } from "../../../storage/shares.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { ceasedMail } from "./mails.ts";

export interface CeasedShare {
  readonly share: Share;
  readonly isRepeated: boolean;
}

/** Refuses writing while a payment is due, then `not_found`, then `cease_not_open` (nobody has stopped it). */
export const acknowledgeStop = async (
  services: Runtime & Stores & Schedules,
  { business, environment }: Pick<Principal, "business" | "environment">,
  actor: Actor,
  id: ShareId | null,
  details: CeaseDetails,
  requestId: string,
  keep?: Keeping<CeasedShare>,
): Promise<Result<CeasedShare>> => {
  const writable = mayWrite(business.status);
  if (!writable.ok) return writable;
  if (id === null) return refuse("not_found");
  const db = services.homes.of(id);
  const { vault } = services;
  // Where another acknowledgement was first, the second reading answers with it.
  return retrying([isOutdatedShare], async () => {
    const written = services.clock();
    const found = await changeableShare(db, id, { businessId: business.id, environment }, written);
    if (found === null) return refuse("not_found");
    const { share, chains, consumerId, language } = found;
    const now = written + share.clockOffsetMs;
    if (share.status === "ceased") return ok({ share, isRepeated: true });
    if (share.status !== "revoked") return refuse("cease_not_open");
    const rows = await updateCeased(db, vault, share, details, { now, requestId });
    const mail = await ceasedMail(services, db, consumerId, share, { at: now, note: details.note, language });
    const ceased: CeasedShare = { share: { ...share, status: "ceased", acknowledgedAt: now }, isRepeated: false };
    const kept = (await keep?.(ceased)) ?? [];
    await commit(db, services, [...rows, ...mail, ...kept], [writtenAt(acknowledgeShare(share, chains, actor, now), written)]);
    services.scheduleMail();
    return ok(ceased);
  });
};
