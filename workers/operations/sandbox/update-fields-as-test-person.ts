// Changes a test person's contact fields.
import type { ShareId, BusinessId } from "../../../core/ids.ts";
import { refuse, ok, type Result } from "../../../core/result.ts";
import { filterKeysInGroup, applyFieldChanges, type ContactKey, type ContactFields, type FieldGroup } from "../../../core/shares/fields.ts";
import { getAlternatePersonaValue } from "../../../core/shares/persona.ts";
import type { Instant } from "../../../core/time.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { updateShareCopies } from "../../../storage/share-copies.ts";
import type { SandboxDependencies } from "./dependencies.ts";
import { prepareShareUpdates } from "../consumers/prepare-share-updates.ts";
import { loadTestFields } from "./load-test-fields.ts";

const maxAttempts = 3; // an attempt fails only if another change to the same share is committed first

/** Returns the requested change or, if it is null, a new value for the first of `keys`. */
const selectFieldChange = (
  requested: ReadonlyMap<ContactKey, string | null> | null,
  keys: readonly ContactKey[],
  fields: ContactFields,
): ReadonlyMap<ContactKey, string | null> =>
  requested ?? new Map(keys.slice(0, 1).map((key) => [key, getAlternatePersonaValue(key, fields[key]?.value ?? null)]));

/**
 * Returns the fields of a share after the change. Returns `invalid_request` for fields outside the group or scope, for invalid values, and
 * if no value changes.
 */
export const decideTestUpdate = (
  { toE164 }: Pick<SandboxDependencies, "toE164">,
  share: { readonly scope: readonly ContactKey[]; readonly fields: ContactFields },
  group: FieldGroup,
  requested: ReadonlyMap<ContactKey, string | null> | null,
  now: Instant,
): Result<ContactFields, "invalid_request"> => {
  const keys = filterKeysInGroup(share.scope, group);
  if (keys.length === 0) return refuse("invalid_request", "type: must be the update of a field group in the scope of the share.");
  const change = selectFieldChange(requested, keys, share.fields);
  if ([...change.keys()].some((key) => !keys.includes(key)))
    return refuse(
      "invalid_request",
      "fields: must contain only fields that belong to the group of this event type and to the scope of the share.",
    );
  const decided = applyFieldChanges(share.fields, change, now, toE164);
  if (!decided.ok) return decided;
  const { fields, changedKeys } = decided.value;
  return changedKeys.length === 0 ? refuse("invalid_request", "fields: must change at least one value.") : ok(fields);
};

/**
 * Changes fields of one group in a test share's copy of the fields, and writes the event. Returns `share_inactive`, the errors of
 * `decideTestUpdate`, and `storage_unavailable` after three failed attempts.
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
    const now = services.clock() + stored.clockOffsetMs;
    const decided = decideTestUpdate(services, stored, group, requested, now);
    if (!decided.ok) return decided;
    const { scope, keySealed, valuesSealed } = stored;
    const updates = await prepareShareUpdates(services, [{ ...share, scope, keySealed, valuesSealed }], decided.value);
    const [insertedEvents] = await batch(
      db,
      updateShareCopies(db, updates, { environment: "sandbox", revision: stored.revision + 1, now }),
    );
    if ((insertedEvents as D1Result).meta.changes > 0) return ok(share.id);
  }
  return refuse("storage_unavailable");
};
