// Renews a test share on behalf of its test person.
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
import type { SandboxWriteDependencies } from "./dependencies.ts";

/**
 * Replaces an active share with a new share that has the same scope and duration. Returns the new ID. Returns the first of these errors
 * that applies:
 * - `share_inactive`
 * - the errors of `decideRenewal`
 * - `rate_limited` if the sandbox has reached a storage limit
 * - `storage_unavailable` if concurrent changes made every attempt fail
 */
export const renewAsTestPerson = async (
  services: SandboxWriteDependencies,
  db: Database,
  { share: old, disclosureText, language }: ChangeableShare,
  requestId: string,
): Promise<Result<ShareId>> => {
  const businessId = old.business.id;
  return retryOnConflict([isOutdatedGrant, isOutdatedShare], async () => {
    const [client, stored] = await Promise.all([
      findGrantingClient(db, old.clientId),
      loadTestFields(services, db, { id: old.id, businessId }),
    ]);
    if (client === null) throw new Error("shares: the client of a share is missing");
    if (stored === null) return refuse("share_inactive");
    const writtenAt = services.clock();
    const now = writtenAt + client.clockOffsetMs;
    const shareId = generateId("shr_", shardOfId(old.id), services.random) as ShareId;
    const decided = decideRenewal({
      old,
      disclosureText,
      client,
      person: null,
      scope: null,
      durationDays: null,
      fields: stored.fields,
      now,
      shareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const before = [updateShareSuperseded(db, old.id, shareId, now, requestId)];
    const creation = { client, person: null, revision: stored.revision, fieldsWrite: null, language, requestId, writtenAt };
    const written = await commitShare(services, db, decided.value, creation, { before });
    return written.ok ? ok(shareId) : written;
  });
};
