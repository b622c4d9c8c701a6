// The person consents anew: a fresh share with the fields as they are now takes the place of an active one, in one batch.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, generateId, type ShareId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { decideRenewal, type GrantRefusal } from "../../../core/shares/grant.ts";
import type { Share } from "../../../core/shares/share.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { isOutdatedGrant, isOutdatedShare, updateShareSuperseded } from "../../../storage/share-changes.ts";
import { findChangeableShare } from "../../../storage/shares.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { commitShare } from "./commit-share.ts";

export interface RenewalRequest {
  /** Null: as before. */
  readonly scope: readonly ContactKey[] | null;
  readonly durationDays: number | null;
  readonly language: MailLanguage;
  readonly requestId: string;
}

export interface RenewedShare {
  readonly share: Share;
  readonly superseded: ShareId;
}

export type RenewalRefusal = GrantRefusal | "not_found" | "unauthorized" | "share_inactive" | "storage_unavailable";

/** Refuses, in this order: somebody else's share, one that is not active, the business's account, a missing value. */
export const renewShare = async (
  services: ShareWriteDependencies,
  person: Person,
  id: ShareId | null,
  request: RenewalRequest,
  keep?: SaveIdempotentResponse<RenewedShare>,
): Promise<Result<RenewedShare, RenewalRefusal>> => {
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  return retryOnConflict([isOutdatedGrant, isOutdatedShare], async () => {
    const [found, kept] = await Promise.all([
      findChangeableShare(db, id, { consumerId: person.id }, services.clock()),
      findContactFields(services.shards.forId(person.id), services.vault, person.id),
    ]);
    if (found === null) return refuse("not_found");
    if (kept === null) return refuse("unauthorized");
    const client = await findGrantingClient(db, found.share.clientId);
    if (client === null) throw new Error("shares: a share belongs to no client");
    const now = services.clock();
    const shareId = generateId("shr_", shardOfId(id), services.random) as ShareId;
    const decided = decideRenewal({
      ...request,
      old: found.share,
      disclosureText: found.disclosureText,
      client,
      person,
      fields: kept.fields,
      now,
      shareId,
      rootSalt: services.random(32),
    });
    if (!decided.ok) return decided;
    const { language, requestId } = request;
    const before = [updateShareSuperseded(db, id, shareId, now, requestId)];
    const renewed = { share: decided.value.share, superseded: id };
    const after = (await keep?.(renewed)) ?? [];
    const making = { client, person, revision: kept.revision, language, requestId, written: now };
    await commitShare(services, db, decided.value, making, { before, after });
    return ok(renewed);
  });
};
