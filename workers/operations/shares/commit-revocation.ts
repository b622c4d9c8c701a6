// Revokes one share.
import type { Actor } from "../../../core/actor.ts";
import { withRecordedTime } from "../../../core/domain-events.ts";
import { revokeShare } from "../../../core/shares/revocation.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { updateShareRevoked } from "../../../storage/share-changes.ts";
import { insertOverdueNotice } from "../../../storage/share-notices.ts";
import type { ChangeableShare } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { prepareRevocationMails, type StoppedBy } from "./share-mails.ts";

export interface RevocationResult {
  readonly share: Share;
  readonly ceaseBy: Instant;
  readonly isRepeated: boolean;
}

/**
 * Revokes the share, writes its event, the email to the person and the notice to the owners, and schedules the overdue notice, in one
 * transaction. For a test share, the recorded times are in sandbox time. Throws an error that `isOutdatedShare` recognizes if the share has
 * changed since it was loaded.
 */
export const commitRevocation = async (
  services: WriteDependencies,
  db: Database,
  { share, chains, consumerId, language }: ChangeableShare,
  by: { readonly actor: Actor; readonly stoppedBy?: StoppedBy; readonly reason: string | null; readonly requestId: string },
  saveIdempotentResponse: SaveIdempotentResponse<RevocationResult> = async () => [],
): Promise<RevocationResult> => {
  const { vault } = services;
  const writtenAt = services.clock();
  const revocation = revokeShare(share, chains, by.actor, writtenAt + share.clockOffsetMs);
  const { revokedAt, ceaseBy } = revocation;
  const statements = await updateShareRevoked(db, vault, share, revocation, by);
  const { stoppedBy = "person" } = by;
  const mails = await prepareRevocationMails(services, db, consumerId, share, { at: revokedAt, ceaseBy, language, stoppedBy });
  const revoked: RevocationResult = { share: { ...share, status: "revoked", revokedAt, ceaseBy }, ceaseBy, isRepeated: false };
  await commit(
    db,
    services,
    [...statements, insertOverdueNotice(db, share.id, ceaseBy), ...mails, ...(await saveIdempotentResponse(revoked))],
    [withRecordedTime(revocation.domainEvent, writtenAt)],
  );
  services.scheduleMail();
  return revoked;
};
