// The wire of what a person keeps and sees: their profile, their contact fields, their shares.
import { z } from "@hono/zod-openapi";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { contactKeys, groupNames, isContactKey, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import type { FieldsChange } from "../../operations/consumers/fields.ts";
import type { Profile } from "../../operations/consumers/profile.ts";
import { timeOf } from "../certificates/schema.ts";

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
    changed_groups: z.array(z.enum(groupNames as ["email", "phone", "address", "name"])),
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
