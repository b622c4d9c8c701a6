// svc_update_field: the person changes a contact field, and every business whose active share covers it is told.
import { z } from "@hono/zod-openapi";
import { personFromAgent } from "../../../core/agents/agent-token.ts";
import { contactKeys } from "../../../core/shares/fields.ts";
import { hasVisibleCharacter } from "../../../core/text.ts";
import { fieldUpdateResultSchema, fieldUpdateResultToWire } from "../../api/consumers/schema.ts";
import { updateContactFields } from "../../operations/consumers/update-contact-fields.ts";
import { enumArgument, toolResultFromRefusal } from "../tool-arguments.ts";
import { StorageUnavailableError, defineTool } from "../tool.ts";

export const updateField = defineTool({
  name: "svc_update_field",
  title: "Update a contact field",
  descriptions: { consumer: "Changes one of your contact fields and tells every business whose active share covers it." },
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  inputSchema: z.strictObject({
    field: enumArgument(contactKeys).describe("Which field."),
    value: z
      .string({ error: ({ input }) => (input === undefined ? "is missing" : "must be a text") })
      .max(254, "must be at most 254 characters")
      .refine(hasVisibleCharacter, "must hold something visible; the person clears a field in the app")
      .describe("The new value. country: two letters of ISO 3166-1."),
  }),
  outputSchema: fieldUpdateResultSchema,
  untrustedFields: [], // the person's own
  run: async ({ services, agent }, { field, value }) => {
    const person = personFromAgent(agent);
    const { isAllowed } = await services.takeExactly("FIELD_CHANGES", person.id); // with those of the person's own hand
    if (!isAllowed) return { ok: false, text: "too many changes in a minute; nothing was changed" };
    const changed = await updateContactFields(services, person, new Map([[field, value]]));
    if (changed.ok) {
      const data = fieldUpdateResultToWire(changed.value);
      return changed.value.changedGroups.length === 0 ? { ok: true, data } : { ok: true, data, isAudited: true };
    }
    if (changed.code === "storage_unavailable") throw new StorageUnavailableError();
    return toolResultFromRefusal(changed);
  },
});
