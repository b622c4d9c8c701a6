// svc_update_field: the person changes a contact field, and every business whose active share covers it is told.
import { z } from "@hono/zod-openapi";
import { personOfAgent } from "../../../core/agents/token.ts";
import { contactKeys } from "../../../core/shares/fields.ts";
import { isVisible } from "../../../core/text.ts";
import { changedSchema, changedToWire } from "../../api/consumers/schema.ts";
import { changeContactFields } from "../../operations/consumers/fields.ts";
import { oneOf, refusedArgument } from "../arguments.ts";
import { StorageAway, tool } from "../tool.ts";

export const updateField = tool({
  name: "svc_update_field",
  title: "Update a contact field",
  descriptions: { consumer: "Changes one of your contact fields and tells every business whose active share covers it." },
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  takes: z.strictObject({
    field: oneOf(contactKeys).describe("Which field."),
    value: z
      .string({ error: ({ input }) => (input === undefined ? "is missing" : "must be a text") })
      .max(254, "must be at most 254 characters")
      .refine(isVisible, "must hold something visible; the person clears a field in the app")
      .describe("The new value. country: two letters of ISO 3166-1."),
  }),
  gives: changedSchema,
  foreign: [], // the person's own
  run: async ({ services, agent }, { field, value }) => {
    const person = personOfAgent(agent);
    const { allowed } = await services.takeExactly("FIELD_CHANGES", person.id); // with those of the person's own hand
    if (!allowed) return { ok: false, text: "too many changes in a minute; nothing was changed" };
    const changed = await changeContactFields(services, person, new Map([[field, value]]));
    if (changed.ok) {
      const data = changedToWire(changed.value);
      return changed.value.changedGroups.length === 0 ? { ok: true, data } : { ok: true, data, isEntered: true };
    }
    if (changed.code === "storage_unavailable") throw new StorageAway();
    return refusedArgument(changed);
  },
});
