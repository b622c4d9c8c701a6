import type { ShareId, BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { filterKeysInGroup, applyFieldChanges, type ContactKey, type ContactFields, type FieldGroup } from "../../../core/shares/fields.ts";
import { getAlternatePersonaValue } from "../../../core/shares/persona.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { updateShareCopies } from "../../../storage/share-copies.ts";
import type { SandboxDependencies } from "./dependencies.ts";
import { prepareShareUpdates } from "../consumers/prepare-share-updates.ts";
import { loadTestFields } from "./load-test-fields.ts";

const maxAttempts = 3;

/** The change that is asked for, or one of the first field there is. */
const selectFieldChange = (
  asked: ReadonlyMap<ContactKey, string | null> | null,
  keys: readonly ContactKey[],
  fields: ContactFields,
): ReadonlyMap<ContactKey, string | null> =>
  asked ?? new Map(keys.slice(0, 1).map((key) => [key, getAlternatePersonaValue(key, fields[key]?.value ?? null)]));

/** Changes fields of one group in the copy of one share, and tells its business. */
export const updateFieldsAsTestPerson = async (
  services: SandboxDependencies,
  db: Database,
  of: { readonly id: ShareId; readonly businessId: BusinessId },
  group: FieldGroup,
  asked: ReadonlyMap<ContactKey, string | null> | null,
): Promise<Result<ShareId, "share_inactive" | "invalid_request" | "storage_unavailable">> => {
  for (let reading = 1; reading <= maxAttempts; reading += 1) {
    const kept = await loadTestFields(services, db, of);
    if (kept === null) return refuse("share_inactive");
    const keys = filterKeysInGroup(kept.scope, group);
    if (keys.length === 0) return refuse("invalid_request", "type: the scope of the share holds no field of this group.");
    const change = selectFieldChange(asked, keys, kept.fields);
    if ([...change.keys()].some((key) => !keys.includes(key)))
      return refuse("invalid_request", "fields: must be fields of the group of this type, within the scope of the share.");
    const now = services.clock() + kept.clockOffsetMs;
    const decided = applyFieldChanges(kept.fields, change, now, services.toE164);
    if (!decided.ok) return decided;
    const { fields, changedKeys } = decided.value;
    if (changedKeys.length === 0) return refuse("invalid_request", "fields: must change a value.");
    const { scope, keySealed, valuesSealed } = kept;
    const updates = await prepareShareUpdates(services, [{ ...of, scope, keySealed, valuesSealed }], fields);
    const [told] = await batch(db, updateShareCopies(db, updates, { environment: "sandbox", revision: kept.revision + 1, now }));
    if ((told as D1Result).meta.changes > 0) return ok(of.id);
  }
  return refuse("storage_unavailable"); // changed by others each time, or over: whoever asks again is told
};
