// svc_update_field changes one of the person's contact fields and notifies every business whose active share covers it.
import { z } from "@hono/zod-openapi";
import { personFromAgent } from "../../../core/agents/agent-token.ts";
import { contactKeys } from "../../../core/shares/fields.ts";
import { hasVisibleCharacter } from "../../../core/text.ts";
import { fieldUpdateResultSchema, fieldUpdateResultToWire } from "../../api/consumers/schema.ts";
import { updateContactFields } from "../../operations/consumers/update-contact-fields.ts";
import { enumArgument, toolResultFromRefusal } from "../tool-arguments.ts";
import { defineTool } from "../tool.ts";

export const updateField = defineTool({
  name: "svc_update_field",
  title: "Update a contact field",
  descriptions: { consumer: "Changes one of your contact fields and notifies every business that has an active share of this field." },
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  inputSchema: z.strictObject({
    field: enumArgument(contactKeys).describe("The field to change."),
    value: z
      .string({ error: ({ input }) => (input === undefined ? "is missing" : "must be a string") })
      .max(254, "must be at most 254 characters")
      .refine(hasVisibleCharacter, "must contain a visible character; the person can clear a field in the app")
      .describe("The new value. For country, a two-letter ISO 3166-1 code."),
  }),
  outputSchema: fieldUpdateResultSchema,
  untrustedFields: [], // the result contains only the person's own data
  run: async ({ services, agent }, { field, value }) => {
    const person = personFromAgent(agent);
    // Changes that the person makes in the app count toward the same limit.
    const { isAllowed } = await services.takeExactly("FIELD_CHANGES", person.id);
    if (!isAllowed) return { ok: false, text: "Too many changes in the last hour. Nothing was changed. Try again later." };
    const changed = await updateContactFields(services, person, new Map([[field, value]]));
    if (changed.ok) {
      const data = fieldUpdateResultToWire(changed.value);
      return changed.value.changedGroups.length === 0 ? { ok: true, data } : { ok: true, data, isAudited: true };
    }
    return toolResultFromRefusal(changed);
  },
});
