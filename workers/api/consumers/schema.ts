// The wire of what a person keeps and sees: their profile, their contact fields, their shares.
import { z } from "@hono/zod-openapi";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { contactKeys, isContactKey, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { timeOf } from "../../http/wire.ts";
import type { FieldsChange } from "../../operations/consumers/fields.ts";
import type { Profile } from "../../operations/consumers/profile.ts";
import { fieldGroup } from "../shares/schema.ts";
import { shareExample } from "../shares/examples.ts";

export const profileExample = {
  id: "con_00k3v9d2m4q8x1c7b5n0t6w2h9",
  email: "pat@example.com",
  plan: "free",
  created_at: "2026-11-01T08:00:00.000Z",
  shares_active: 1,
  fields_updated_at: "2026-11-20T10:04:00.000Z",
};

const none = { address_line1: null, address_line2: null, city: null, state: null, zip: null, country: null };
const fields = { email: "pat@example.com", phone: "+1 202 555 0199", ...none, first_name: "Pat", last_name: "Example" };
const at = "2026-11-20T10:04:00.000Z";
export const fieldsExample = { fields, updated_at: { email: at, phone: at, ...none, first_name: at, last_name: at } };
export const changedExample = { fields, changed_groups: ["phone"], events_emitted: 1 };

/** As its person sees it. */
export const ownShareExample = { ...shareExample, last_delivered_at: "2026-11-20T10:05:03.000Z" };

const renewed = { ...shareExample, id: "shr_00m2k9x4c1v8b5n3q6t0w2h7f7", supersedes: shareExample.id };
export const renewedExample = { share: renewed, superseded: { id: shareExample.id, status: "superseded" } };

export const deletedExample = { deleted: true, shares_revoked: 2, fields_erased: true };

export const exportExample = {
  export_version: "1",
  exported_at: at,
  profile: profileExample,
  fields: fieldsExample,
  shares: [{ ...ownShareExample, disclosure_text: "", anchor: null, granted: { email: "pat@example.com" } }],
  audit: [],
  audit_pending: [],
  removals: [],
  agent_tokens: [],
  receipts: [],
};

export const profileSchema = z
  .object({
    id: z.string(),
    email: z.string().openapi({ description: "The address you sign in with." }),
    plan: z.enum(["free", "white_glove"]),
    created_at: timeOf("When the account was made"),
    shares_active: z.number().int(),
    fields_updated_at: timeOf("When a contact field last changed").nullable(),
  })
  .openapi("Profile");

export const profileToWire = (profile: Profile): z.input<typeof profileSchema> => ({
  id: profile.id,
  email: profile.email,
  plan: profile.plan,
  created_at: isoOf(profile.createdAt),
  shares_active: profile.activeShares,
  fields_updated_at: isoOrNull(profile.fieldsUpdatedAt),
});

const values = z.record(z.string(), z.string().nullable()).openapi({ description: "All ten keys; null where there is no value." });

export const fieldsSchema = z.object({ fields: values, updated_at: z.record(z.string(), z.string().nullable()) }).openapi("ContactFields");

const valuesToWire = (fields: ContactFields) => Object.fromEntries(contactKeys.map((key) => [key, fields[key]?.value ?? null]));

export const fieldsToWire = (fields: ContactFields): z.input<typeof fieldsSchema> => ({
  fields: valuesToWire(fields),
  updated_at: Object.fromEntries(contactKeys.map((key) => [key, isoOrNull(fields[key]?.updatedAt ?? null)])),
});

export const fieldChangeSchema = z.record(z.string(), z.unknown()).openapi("ContactFieldsChange", {
  description: `Some of ${contactKeys.join(", ")}; null clears one. Any other key is refused.`,
  type: "object",
  properties: Object.fromEntries(
    contactKeys.map((key) => [key, { type: ["string", "null"], description: `${fieldLabels.en[key]}; null clears it.` }]),
  ) as never,
  additionalProperties: false,
});

/** The keys are this body's data, so an unknown one is refused and not passed over. */
export const changeFromWire = (body: Record<string, unknown>): Result<ReadonlyMap<ContactKey, string | null>, "invalid_request"> => {
  const change = new Map<ContactKey, string | null>();
  for (const [key, value] of Object.entries(body)) {
    if (!isContactKey(key)) return refuse("invalid_request", "The body holds a key that is no contact field.");
    if (value !== null && typeof value !== "string") return refuse("invalid_request", `${key}: must be text or null.`);
    change.set(key, value);
  }
  return change.size === 0 ? refuse("invalid_request", "The body must hold at least one contact field.") : ok(change);
};

export const changedSchema = z
  .object({
    fields: values,
    changed_groups: z.array(fieldGroup),
    events_emitted: z.number().int().openapi({ description: "Written before this answer; businesses in other homes are told after it." }),
  })
  .openapi("ContactFieldsChanged");

export const changedToWire = (change: FieldsChange): z.input<typeof changedSchema> => ({
  fields: valuesToWire(change.fields),
  changed_groups: [...change.changedGroups],
  events_emitted: change.eventsEmitted,
});

export const deletionSchema = z
  .object({
    confirm: z.literal("DELETE").nullish().openapi({ description: "May be left out; anything else than `DELETE` is refused." }),
  })
  .openapi("AccountDeletion");

export const deletedSchema = z
  .object({
    deleted: z.literal(true),
    shares_revoked: z.number().int().openapi({ description: "Shares that this call ended." }),
    fields_erased: z.literal(true),
  })
  .openapi("AccountDeleted");
