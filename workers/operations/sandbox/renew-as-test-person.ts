import { generateId, shardOfId, type ShareId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { decideRenewal } from "../../../core/shares/grant.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { isOutdatedGrant, isOutdatedShare, updateShareSuperseded } from "../../../storage/share-changes.ts";
import type { ChangeableShare } from "../../../storage/shares.ts";
import { commitShare } from "../shares/commit-share.ts";
import { loadTestFields } from "./load-test-fields.ts";
import type { TestPersonServices } from "./share-as-test-person.ts";

/** A fresh share takes the place of an active one, with the same scope and as many days. */
export const renewAsTestPerson = async (
  services: TestPersonServices,
  db: Database,
  { share: old, disclosureText, language }: ChangeableShare,
  requestId: string,
): Promise<Result<ShareId>> => {
  const businessId = old.business.id;
  return retryOnConflict([isOutdatedGrant, isOutdatedShare], async () => {
    const [client, kept] = await Promise.all([
      findGrantingClient(db, old.clientId),
      loadTestFields(services, db, { id: old.id, businessId }),
    ]);
    if (client === null) throw new Error("shares: a share belongs to no client");
    if (kept === null) return refuse("share_inactive");
    const written = services.clock();
    const now = written + client.clockOffsetMs;
    const shareId = generateId("shr_", shardOfId(old.id), services.random) as ShareId;
    const decided = decideRenewal({
      old,
      disclosureText,
      client,
      person: null,
      scope: null,
      durationDays: null,
      fields: kept.fields,
      now,
      shareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const before = [updateShareSuperseded(db, old.id, shareId, now, requestId)];
    const making = { client, person: null, revision: kept.revision, language, requestId, written };
    await commitShare(services, db, decided.value, making, { before, after: [] });
    return ok(shareId);
  });
};
