// Renews a test share on behalf of its test person.
import type { ShareId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { isOutdatedGrant, isOutdatedShare } from "../../../storage/share-changes.ts";
import type { ChangeableShare } from "../../../storage/shares.ts";
import { commitRenewal } from "../shares/renew-share.ts";
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
  found: ChangeableShare,
  requestId: string,
): Promise<Result<ShareId>> => {
  const { share, language } = found;
  return retryOnConflict([isOutdatedGrant, isOutdatedShare], async () => {
    const stored = await loadTestFields(services, db, { id: share.id, businessId: share.business.id });
    if (stored === null) return refuse("share_inactive");
    const request = { scope: null, durationDays: null, language, requestId };
    const renewed = await commitRenewal(services, db, found, { person: null, ...stored }, request, async () => []);
    return renewed.ok ? ok(renewed.value.share.id) : renewed;
  });
};
