// The person takes a share back: signed in, by the link that was mailed, or through an assistant. Once; asked again it answers the same.
import type { Person } from "../../../core/access/principal.ts";
import type { Actor } from "../../../core/actor.ts";
import { writtenAt } from "../../../core/facts.ts";
import { isSameSecret } from "../../../core/hash.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, refuse, refusedWhere, type Result } from "../../../core/result.ts";
import { revokeShare } from "../../../core/shares/end.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { chosenLine } from "../../../core/text.ts";
import { commit, retrying } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { isOutdatedShare, updateRevoked } from "../../../storage/share-changes.ts";
import { insertOverdueNotice } from "../../../storage/share-notices.ts";
import { changeableShare, type ChangeableShare } from "../../../storage/shares.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { revokeToken, stoppedMails } from "./mails.ts";

export type RevokeServices = Runtime & Stores & Schedules;

export interface Revoked {
  readonly share: Share;
  readonly ceaseBy: Instant;
  readonly isRepeated: boolean;
}

/** Who revokes: the person, or whoever holds the link of the mail. */
export type Revoking = { readonly person: Person } | { readonly token: string };

export type RevokeRefusal = "invalid_request" | "unauthorized" | "not_found" | "share_inactive" | "storage_unavailable";

const maxReasonLength = 200;

/** What a share answers that is over already: the same again where somebody stopped it. */
const repeated = (share: Share): Result<Revoked, "share_inactive"> =>
  share.status === "revoked" || share.status === "ceased"
    ? ok({ share, ceaseBy: share.ceaseBy as Instant, isRepeated: true })
    : refuse("share_inactive");

const commitRevocation = async (
  services: RevokeServices,
  db: Database,
  { share, chains, consumerId, language }: ChangeableShare,
  by: { readonly actor: Actor; readonly reason: string | null; readonly requestId: string },
  keep?: Keeping<Revoked>,
): Promise<Revoked> => {
  const { vault } = services;
  const written = services.clock();
  const revocation = revokeShare(share, chains, by.actor, written + share.clockOffsetMs);
  const { revokedAt, ceaseBy } = revocation;
  const rows = await updateRevoked(db, vault, share, revocation, by);
  const mails = await stoppedMails(services, db, consumerId, share, { at: revokedAt, ceaseBy, language });
  const revoked: Revoked = { share: { ...share, status: "revoked", revokedAt, ceaseBy }, ceaseBy, isRepeated: false };
  await commit(
    db,
    services,
    [...rows, insertOverdueNotice(db, share.id, ceaseBy), ...mails, ...((await keep?.(revoked)) ?? [])],
    [writtenAt(revocation.fact, written)],
  );
  services.scheduleMail();
  return revoked;
};

/** By the client that stands for a test person. */
export const revokeAsTestPerson = async (
  services: RevokeServices,
  db: Database,
  found: ChangeableShare,
  requestId: string,
): Promise<Result<Revoked, "share_inactive">> => {
  if (found.share.status !== "active") return refuse("share_inactive");
  const actor: Actor = { kind: "client", id: found.share.clientId };
  return commitRevocation(services, db, found, { actor, reason: null, requestId }).then(
    (revoked) => ok(revoked),
    refusedWhere(isOutdatedShare, "share_inactive"), // it ended meanwhile
  );
};

/**
 * Refuses `unauthorized` for a link that is not this share's, `not_found` for somebody else's share, `share_inactive` for one that ended
 * otherwise. Possible whatever the business has paid.
 */
export const revokeByPerson = async (
  services: RevokeServices,
  id: ShareId | null,
  by: Revoking,
  asked: { readonly reason: string | null; readonly requestId: string },
  keep?: Keeping<Revoked>,
): Promise<Result<Revoked, RevokeRefusal>> => {
  const reason = chosenLine("reason", asked.reason, maxReasonLength);
  if (!reason.ok) return reason;
  const isLink = "token" in by;
  if (isLink && (id === null || !isSameSecret(by.token, await revokeToken(services, id)))) return refuse("unauthorized");
  if (id === null) return refuse("not_found");
  const db = services.homes.of(id);
  const whose = isLink ? "link" : { consumerId: by.person.id };
  const actor: Actor = isLink ? { kind: "subject", provenBy: "revoke_link" } : by.person.actor;
  // Where it ended meanwhile, the second reading says how.
  return retrying([isOutdatedShare], async () => {
    const found = await changeableShare(db, id, whose, services.clock());
    if (found === null) return refuse("not_found");
    if (found.share.status !== "active") return repeated(found.share);
    return ok(await commitRevocation(services, db, found, { actor, reason: reason.value, requestId: asked.requestId }, keep));
  });
};
