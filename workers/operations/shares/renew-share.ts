// Implements POST /v1/me/shares/{id}/renew. Replaces an active share with a new share that has the current contact fields.
import type { Person } from "../../../core/access/principal.ts";
import { shardOfId, generateId, type ShareId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields, ContactKey } from "../../../core/shares/fields.ts";
import { decideRenewal, type GrantRefusal } from "../../../core/shares/grant.ts";
import type { Share } from "../../../core/shares/share.ts";
import { retryOnConflict } from "../../../storage/commit.ts";
import type { Database } from "../../../storage/database.ts";
import { findContactFields } from "../../../storage/contact-fields.ts";
import { findGrantingClient } from "../../../storage/accounts.ts";
import { isOutdatedGrant, isOutdatedShare, updateShareSuperseded } from "../../../storage/share-changes.ts";
import { findChangeableShare, type ChangeableShare } from "../../../storage/shares.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import type { SaveIdempotentResponse } from "../access/idempotency.ts";
import { commitShare } from "./commit-share.ts";

export interface RenewalRequest {
  /** The new share's scope; null keeps the old share's scope. */
  readonly scope: readonly ContactKey[] | null;
  readonly durationDays: number | null;
  readonly language: Language;
  readonly requestId: string;
}

export interface RenewedShare {
  readonly share: Share;
  readonly superseded: ShareId;
}

export type RenewalRefusal = GrantRefusal | "not_found" | "unauthorized" | "share_inactive" | "storage_unavailable" | "rate_limited";

/**
 * Makes one attempt to renew the share. Throws an error that `isOutdatedGrant` or `isOutdatedShare` recognizes if the loaded data has
 * changed.
 */
export const commitRenewal = async (
  services: ShareWriteDependencies,
  db: Database,
  { share: old, disclosureText }: Pick<ChangeableShare, "share" | "disclosureText">,
  /** `person` is null for a test person. `revision` is the revision of `fields`. */
  holder: { readonly person: Person | null; readonly fields: ContactFields; readonly revision: number },
  request: RenewalRequest,
  saveIdempotentResponse: SaveIdempotentResponse<RenewedShare>,
): Promise<Result<RenewedShare, RenewalRefusal>> => {
  const client = await findGrantingClient(db, old.clientId);
  if (client === null) throw new Error("shares: the client of a share is missing");
  const { person, fields, revision } = holder;
  const writtenAt = services.clock();
  const now = writtenAt + client.clockOffsetMs;
  const shareId = generateId("shr_", shardOfId(old.id), services.random) as ShareId;
  const rootSalt = services.random(32);
  const decided = decideRenewal({ ...request, old, disclosureText, client, person, fields, now, shareId, rootSalt });
  if (!decided.ok) return decided;
  const { language, requestId } = request;
  const before = [updateShareSuperseded(db, old.id, shareId, now, requestId)];
  const renewed = { share: decided.value.share, superseded: old.id };
  const after = await saveIdempotentResponse(renewed);
  const creation = { client, person, fields, revision, fieldsWrite: null, language, requestId, writtenAt };
  const written = await commitShare(services, db, decided.value, creation, { before, after });
  return written.ok ? ok(renewed) : written;
};

/**
 * Writes the new share and marks the old one as superseded, in one transaction (SPEC Share). Returns the first of these errors that
 * applies:
 * - `not_found`
 * - `unauthorized` if the person's account no longer exists
 * - `share_inactive`
 * - the errors for the business's account status
 * - `invalid_request` for a missing value
 * - `rate_limited` if a storage limit is reached
 * - `storage_unavailable` if concurrent changes made every attempt fail
 */
export const renewShare = async (
  services: ShareWriteDependencies,
  person: Person,
  id: ShareId | null,
  request: RenewalRequest,
  saveIdempotentResponse: SaveIdempotentResponse<RenewedShare> = async () => [],
): Promise<Result<RenewedShare, RenewalRefusal>> => {
  if (id === null) return refuse("not_found");
  const db = services.shards.forId(id);
  return retryOnConflict([isOutdatedGrant, isOutdatedShare], async () => {
    const [found, stored] = await Promise.all([
      findChangeableShare(db, id, { consumerId: person.id }, services.clock()),
      findContactFields(services.shards.forId(person.id), services.vault, person.id),
    ]);
    if (found === null) return refuse("not_found");
    if (stored === null) return refuse("unauthorized");
    return commitRenewal(services, db, found, { person, ...stored }, request, saveIdempotentResponse);
  });
};
