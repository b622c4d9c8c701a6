// The person consents anew: a fresh share with the fields as they are now takes the place of an active one, in one batch.
import type { Person } from "../../../core/access/principal.ts";
import { homeOfId, newId, type ShareId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactKey } from "../../../core/shares/fields.ts";
import { decideRenewal, type GrantRefusal } from "../../../core/shares/grant.ts";
import type { Share } from "../../../core/shares/share.ts";
import { commit } from "../../../storage/commit.ts";
import { keptFields } from "../../../storage/contact-fields.ts";
import { grantingClient } from "../../../storage/share-clients.ts";
import { insertShare, isOutdatedGrant, isOutdatedShare, updateSuperseded } from "../../../storage/share-changes.ts";
import { changeableShare } from "../../../storage/shares.ts";
import type { Phones, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import type { Keeping } from "../access/idempotency.ts";
import { contactIndexes } from "./contact-indexes.ts";
import { receiptMail } from "./mails.ts";
import { settleIntent, writeIntent } from "./other-home.ts";

export interface RenewalRequest {
  /** Null: as before. */
  readonly scope: readonly ContactKey[] | null;
  readonly durationDays: number | null;
  readonly language: MailLanguage;
  readonly requestId: string;
}

export interface Renewed {
  readonly share: Share;
  readonly superseded: ShareId;
}

export type RenewRefusal = GrantRefusal | "not_found" | "unauthorized" | "share_inactive" | "storage_unavailable";

const maxReadings = 3;

/** Refuses, in this order: somebody else's share, one that is not active, the business's account, a missing value. */
export const renewShare = async (
  services: Runtime & Stores & Proofs & Phones & Schedules,
  person: Person,
  id: ShareId | null,
  request: RenewalRequest,
  keep?: Keeping<Renewed>,
): Promise<Result<Renewed, RenewRefusal>> => {
  const { vault, signer } = services;
  if (id === null) return refuse("not_found");
  const db = services.homes.of(id);
  const isSameHome = homeOfId(person.id) === homeOfId(id);
  for (let reading = 1; reading <= maxReadings; reading += 1) {
    const [found, kept] = await Promise.all([
      changeableShare(db, id, { consumerId: person.id }, services.clock()),
      keptFields(services.homes.of(person.id), vault, person.id),
    ]);
    if (found === null) return refuse("not_found");
    if (kept === null) return refuse("unauthorized");
    const client = await grantingClient(db, found.share.clientId);
    if (client === null) throw new Error("shares: a share belongs to no client");
    const now = services.clock();
    const shareId = newId("shr_", homeOfId(id), services.random) as ShareId;
    const rootSalt = services.random(32);
    const decided = decideRenewal({
      ...request,
      old: found.share,
      disclosureText: found.disclosureText,
      client,
      person,
      fields: kept.fields,
      now,
      shareId,
      rootSalt,
    });
    if (!decided.ok) return decided;
    const { share } = decided.value;
    const [signature, indexes, mail, homes] = await Promise.all([
      signer.sign(decided.value.canonical),
      contactIndexes(services, decided.value.fields),
      receiptMail(services, db, person, share, request.language),
      writeIntent(services, db, person, shareId),
    ]);
    const rows = await insertShare(db, vault, {
      prepared: decided.value,
      client,
      person,
      fields: { revision: kept.revision, isSameHome },
      indexes,
      signature: { kid: signer.kid, alg: "Ed25519", value: signature },
      language: request.language,
      requestId: request.requestId,
    });
    const old = updateSuperseded(db, id, shareId, now, request.requestId);
    const renewed = { share, superseded: id };
    const answer = (await keep?.(renewed)) ?? [];
    try {
      await commit(db, services, [...homes, old, ...rows, ...mail, ...answer], [decided.value.fact]);
    } catch (error) {
      if (!isOutdatedGrant(error) && !isOutdatedShare(error)) throw error;
      continue;
    }
    if (!isSameHome) await settleIntent(services, person.id, shareId, kept.revision);
    services.scheduleMail();
    return ok(renewed);
  }
  return refuse("storage_unavailable");
};
