// Revokes a test share in the sandbox, on behalf of its test person.
import type { Actor } from "../../../core/actor.ts";
import { refuse, ok, refuseWhen, type Result } from "../../../core/result.ts";
import type { Database } from "../../../storage/database.ts";
import { isOutdatedShare } from "../../../storage/share-changes.ts";
import type { ChangeableShare } from "../../../storage/shares.ts";
import type { WriteDependencies } from "../dependencies.ts";
import { commitRevocation, type RevocationResult } from "./commit-revocation.ts";

/** Revokes the share. Returns `share_inactive` if it has ended or ends during the call. */
export const revokeShareAsTestPerson = async (
  services: WriteDependencies,
  db: Database,
  found: ChangeableShare,
  requestId: string,
): Promise<Result<RevocationResult, "share_inactive">> => {
  if (found.share.status !== "active") return refuse("share_inactive");
  const actor: Actor = { kind: "client", id: found.share.clientId };
  return commitRevocation(services, db, found, { actor, reason: null, requestId }).then(
    (revoked) => ok(revoked),
    refuseWhen(isOutdatedShare, "share_inactive"),
  );
};
