// Schemas, examples and mappers for a consumer account: profile, contact fields, deletion and export.
import { z } from "@hono/zod-openapi";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { contactKeys, isContactKey, type ContactFields, type ContactKey } from "../../../core/shares/fields.ts";
import { fieldLabels } from "../../../core/shares/labels.ts";
import { toIsoOrNull } from "../../../core/time.ts";
import { describedTime, toWire } from "../../http/wire.ts";
import type { FieldsUpdate } from "../../operations/consumers/update-contact-fields.ts";
import type { Profile } from "../../operations/consumers/get-profile.ts";
import { fieldGroupSchema, shareExample } from "../shares/schema.ts";

export const profileExample = {
  id: "con_00k3v9d2m4q8x1c7b5n0t6w2h9",
  email: "pat@example.com",
  plan: "free",
  created_at: "2026-11-01T08:00:00.000Z",
  shares_active: 1,
  fields_updated_at: "2026-11-20T10:04:00.000Z",
};

const emptyAddress = { address_line1: null, address_line2: null, city: null, state: null, zip: null, country: null };
const contactFieldValuesExample = {
  email: "pat@example.com",
  phone: "+1 202 555 0199",
  ...emptyAddress,
  first_name: "Pat",
  last_name: "Example",
};
const exampleTimestamp = "2026-11-20T10:04:00.000Z";
export const contactFieldsExample = {
  fields: contactFieldValuesExample,
  updated_at: {
    email: exampleTimestamp,
    phone: exampleTimestamp,
    ...emptyAddress,
    first_name: exampleTimestamp,
    last_name: exampleTimestamp,
  },
};
export const fieldUpdateResultExample = { fields: contactFieldValuesExample, changed_groups: ["phone"], events_emitted: 1 };

export const ownShareExample = { ...shareExample, last_delivered_at: "2026-11-20T10:05:03.000Z" };

const renewedShareExample = { ...shareExample, id: "shr_00m2k9x4c1v8b5n3q6t0w2h7f7", supersedes: shareExample.id };
export const renewalExample = { share: renewedShareExample, superseded: { id: shareExample.id, status: "superseded" } };

export const accountDeletionExample = { deleted: true, shares_revoked: 2, fields_erased: true };

export const accountExportExample = {
  export_version: "1",
  exported_at: exampleTimestamp,
  profile: profileExample,
  fields: contactFieldsExample,
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
    email: z.string().meta({ description: "Email address you sign in with." }),
    plan: z.enum(["free", "white_glove"]),
    created_at: describedTime("When the account was created"),
    shares_active: z.number().int(),
    fields_updated_at: describedTime("When you last changed a contact field").nullable(),
  })
  .openapi("Profile");

export const profileToWire = (profile: Profile): z.input<typeof profileSchema> =>
  toWire(profileSchema, { ...profile, sharesActive: profile.activeShares });

const fieldValuesSchema = z.record(z.string(), z.string().nullable()).meta({ description: "All 10 fields; `null` for an empty field." });

export const contactFieldsSchema = z
  .object({ fields: fieldValuesSchema, updated_at: z.record(z.string(), z.string().nullable()) })
  .openapi("ContactFields");

const fieldValuesToWire = (fields: ContactFields) => Object.fromEntries(contactKeys.map((key) => [key, fields[key]?.value ?? null]));

export const contactFieldsToWire = (fields: ContactFields): z.input<typeof contactFieldsSchema> => ({
  fields: fieldValuesToWire(fields),
  updated_at: Object.fromEntries(contactKeys.map((key) => [key, toIsoOrNull(fields[key]?.updatedAt ?? null)])),
});

export const fieldUpdateSchema = z.record(z.string(), z.unknown()).openapi("ContactFieldsChange", {
  description: `Any of ${contactKeys.join(", ")}. \`null\` clears a field. Unknown keys are refused.`,
  type: "object",
  properties: Object.fromEntries(
    contactKeys.map((key) => {
      const label = key === "country" ? "Two-letter country code (ISO 3166-1)" : fieldLabels.en[key];
      return [key, { type: ["string", "null"], description: `${label}, or \`null\` to clear it.` }];
    }),
  ) as never,
  additionalProperties: false,
});

/**
 * Parses the body of a field update. Unlike most bodies, it must not contain unknown keys, because a misspelled field would go unnoticed.
 */
export const fieldUpdateFromWire = (body: Record<string, unknown>): Result<ReadonlyMap<ContactKey, string | null>, "invalid_request"> => {
  const change = new Map<ContactKey, string | null>();
  for (const [key, value] of Object.entries(body)) {
    if (!isContactKey(key)) return refuse("invalid_request", "The body contains a key that is not a contact field. Remove it.");
    if (value !== null && typeof value !== "string") return refuse("invalid_request", `${key}: must be a string or null.`);
    change.set(key, value);
  }
  return change.size === 0 ? refuse("invalid_request", "The body must contain at least one contact field.") : ok(change);
};

export const fieldUpdateResultSchema = z
  .object({
    fields: fieldValuesSchema,
    changed_groups: z.array(fieldGroupSchema),
    events_emitted: z.number().int().meta({
      description: "Number of events created before this response. For some businesses, events are created shortly afterward.",
    }),
  })
  .openapi("ContactFieldsChanged");

export const fieldUpdateResultToWire = (change: FieldsUpdate): z.input<typeof fieldUpdateResultSchema> => ({
  fields: fieldValuesToWire(change.fields),
  changed_groups: [...change.changedGroups],
  events_emitted: change.eventsEmitted,
});

export const accountDeletionRequestSchema = z
  .object({
    confirm: z.literal("DELETE").nullish().meta({ description: "Optional confirmation. Must be `DELETE`." }),
  })
  .openapi("AccountDeletion");

export const accountDeletionSchema = z
  .object({
    deleted: z.literal(true),
    shares_revoked: z.number().int().meta({ description: "Number of shares revoked by this request." }),
    fields_erased: z.literal(true),
  })
  .openapi("AccountDeleted");
