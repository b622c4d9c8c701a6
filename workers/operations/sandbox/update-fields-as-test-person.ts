// Changes a test person's contact fields.
import type { ShareId, BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { filterKeysInGroup, applyFieldChanges, type ContactKey, type ContactFields, type FieldGroup } from "../../../core/shares/fields.ts";
import { getAlternatePersonaValue } from "../../../core/shares/persona.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { updateShareCopies } from "../../../storage/share-copies.ts";
import type { SandboxDependencies } from "./dependencies.ts";
import { prepareShareUpdates } from "../consumers/prepare-share-updates.ts";
import { loadTestFields } from "./load-test-fields.ts";

const maxAttempts = 3; // an attempt fails only if another change to the same share is committed first

/** Returns the requested change, or a new value for the group's first field. */
const selectFieldChange = (
  requested: ReadonlyMap<ContactKey, string | null> | null,
  keys: readonly ContactKey[],
  fields: ContactFields,
): ReadonlyMap<ContactKey, string | null> =>
  requested ?? new Map(keys.slice(0, 1).map((key) => [key, getAlternatePersonaValue(key, fields[key]?.value ?? null)]));

/**
 * Changes one group's fields in a share's copy and writes the event. Returns `share_inactive`, `invalid_request` for fields outside the
 * group or scope and for values that change nothing, and `storage_unavailable` after three failed attempts.
 */
export const updateFieldsAsTestPerson = async (
  services: SandboxDependencies,
  db: Database,
  share: { readonly id: ShareId; readonly businessId: BusinessId },
  group: FieldGroup,
  requested: ReadonlyMap<ContactKey, string | null> | null,
): Promise<Result<ShareId, "share_inactive" | "invalid_request" | "storage_unavailable">> => {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const stored = await loadTestFields(services, db, share);
    if (stored === null) return refuse("share_inactive");
    const keys = filterKeysInGroup(stored.scope, group);
    if (keys.length === 0) return refuse("invalid_request", "type: must be a group with at least one field in the scope of the share.");
    const change = selectFieldChange(requested, keys, stored.fields);
    if ([...change.keys()].some((key) => !keys.includes(key)))
      return refuse(
        "invalid_request",
        "fields: must contain only fields that belong to the group of this event type and to the scope of the share.",
      );
    const now = services.clock() + stored.clockOffsetMs;
    const decided = applyFieldChanges(stored.fields, change, now, services.toE164);
    if (!decided.ok) return decided;
    const { fields, changedKeys } = decided.value;
    if (changedKeys.length === 0) return refuse("invalid_request", "fields: must change at least one value.");
    const { scope, keySealed, valuesSealed } = stored;
    const updates = await prepareShareUpdates(services, [{ ...share, scope, keySealed, valuesSealed }], fields);
    const [insertedEvents] = await batch(
      db,
      updateShareCopies(db, updates, { environment: "sandbox", revision: stored.revision + 1, now }),
    );
    if ((insertedEvents as D1Result).meta.changes > 0) return ok(share.id);
  }
  return refuse("storage_unavailable");
};
