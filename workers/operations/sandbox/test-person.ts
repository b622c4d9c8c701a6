// What the test person of the sandbox does, where nobody is signed in: they share, renew, take back, and change a field. Each is the
// operation of a real person with nobody behind it; a change of theirs reaches the one share that is named.
import type { Principal } from "../../../core/access/principal.ts";
import { homeOfId, newId, type BusinessId, type ShareId } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { changeFields, contactKeys, inGroup, type ContactFields, type ContactKey, type FieldGroup } from "../../../core/shares/fields.ts";
import { decideRenewal } from "../../../core/shares/grant.ts";
import { otherPersonaValue } from "../../../core/shares/persona.ts";
import { challengeOf } from "../../../core/shares/pkce.ts";
import { base64UrlOf } from "../../../core/bytes.ts";
import { retrying } from "../../../storage/commit.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { firstClientOf, grantingClient } from "../../../storage/accounts.ts";
import { isOutdatedGrant, isOutdatedShare, updateSuperseded } from "../../../storage/share-changes.ts";
import { updateShares } from "../../../storage/share-copies.ts";
import { openCopy, testCopy } from "../../../storage/share-values.ts";
import type { ChangeableShare } from "../../../storage/shares.ts";
import type { Phones, Proofs, Runtime, Schedules, Stores } from "../../services.ts";
import { shareUpdates } from "../consumers/share-updates.ts";
import { commitShare, grantShare } from "../shares/grant.ts";

type PersonaServices = Runtime & Stores & Proofs & Phones & Schedules;

/** Everything they have, with the first test client of the business. Its code is nobody's: the verifier is thrown away. */
export const shareAsTestPerson = async (
  services: PersonaServices,
  { business }: Pick<Principal, "business">,
  { durationDays, requestId }: { readonly durationDays: number; readonly requestId: string },
): Promise<Result<ShareId>> => {
  const clientId = await firstClientOf(services.homes.of(business.id), business.id, "sandbox");
  const granted = await grantShare(
    services,
    { persona: "default" },
    {
      clientId,
      origin: "http://localhost",
      scope: contactKeys,
      purpose: "Try out events",
      disclosureText: null,
      durationDays,
      challenge: challengeOf(base64UrlOf(services.random(32))),
      missingOk: contactKeys,
      decisionKey: null,
      mayDecide: async () => ok(true),
      language: "en",
      requestId,
    },
  );
  return granted.ok ? ok(granted.value.share.id) : granted;
};

const maxReadings = 3;

/** The copy that stands for their fields; null once the share is over. */
const fieldsOf = async (services: Runtime & Stores, db: Database, of: { readonly id: ShareId; readonly businessId: BusinessId }) => {
  const copy = await testCopy(db, of.businessId, of.id);
  if (copy === undefined || copy.expiresAt <= services.clock() + copy.clockOffsetMs) return null;
  const fields = await openCopy(services.vault, of, copy);
  return fields === null || copy.keySealed === null ? null : { ...copy, keySealed: copy.keySealed, fields };
};

/** A fresh share takes the place of an active one, with the same scope and as many days. */
export const renewAsTestPerson = async (
  services: PersonaServices,
  db: Database,
  { share: old, disclosureText, language }: ChangeableShare,
  requestId: string,
): Promise<Result<ShareId>> => {
  const businessId = old.business.id;
  return retrying([isOutdatedGrant, isOutdatedShare], async () => {
    const [client, kept] = await Promise.all([grantingClient(db, old.clientId), fieldsOf(services, db, { id: old.id, businessId })]);
    if (client === null) throw new Error("shares: a share belongs to no client");
    if (kept === null) return refuse("share_inactive");
    const written = services.clock();
    const now = written + client.clockOffsetMs;
    const shareId = newId("shr_", homeOfId(old.id), services.random) as ShareId;
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
    const before = [updateSuperseded(db, old.id, shareId, now, requestId)];
    const making = { client, person: null, revision: kept.revision, language, requestId, written };
    await commitShare(services, db, decided.value, making, { before, after: [] });
    return ok(shareId);
  });
};

/** The change that is asked for, or one of the first field there is. */
const changeOf = (
  asked: ReadonlyMap<ContactKey, string | null> | null,
  keys: readonly ContactKey[],
  fields: ContactFields,
): ReadonlyMap<ContactKey, string | null> =>
  asked ?? new Map(keys.slice(0, 1).map((key) => [key, otherPersonaValue(key, fields[key]?.value ?? null)]));

/** Changes fields of one group in the copy of one share, and tells its business. */
export const changeAsTestPerson = async (
  services: Runtime & Stores & Phones,
  db: Database,
  of: { readonly id: ShareId; readonly businessId: BusinessId },
  group: FieldGroup,
  asked: ReadonlyMap<ContactKey, string | null> | null,
): Promise<Result<ShareId, "share_inactive" | "invalid_request" | "storage_unavailable">> => {
  for (let reading = 1; reading <= maxReadings; reading += 1) {
    const kept = await fieldsOf(services, db, of);
    if (kept === null) return refuse("share_inactive");
    const keys = inGroup(kept.scope, group);
    if (keys.length === 0) return refuse("invalid_request", "type: the scope of the share holds no field of this group.");
    const change = changeOf(asked, keys, kept.fields);
    if ([...change.keys()].some((key) => !keys.includes(key)))
      return refuse("invalid_request", "fields: must be fields of the group of this type, within the scope of the share.");
    const now = services.clock() + kept.clockOffsetMs;
    const decided = changeFields(kept.fields, change, now, services.toE164);
    if (!decided.ok) return decided;
    const { fields, changed } = decided.value;
    if (changed.length === 0) return refuse("invalid_request", "fields: must change a value.");
    const { scope, keySealed, valuesSealed } = kept;
    const updates = await shareUpdates(services, [{ ...of, scope, keySealed, valuesSealed }], fields);
    const [told] = await batch(db, updateShares(db, updates, { environment: "sandbox", revision: kept.revision + 1, now }));
    if ((told as D1Result).meta.changes > 0) return ok(of.id);
  }
  return refuse("storage_unavailable"); // changed by others each time, or over: whoever asks again is told
};
