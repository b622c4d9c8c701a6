// The schema and mapper for the account export: the data of a person's account, in one JSON file without an envelope.
import { z } from "@hono/zod-openapi";
import type { AgentToken } from "../../../core/agents/agent-token.ts";
import { toAnchorView } from "../../../core/certificates/public-json.ts";
import { once } from "../../../core/once.ts";
import { buildShareReceipt } from "../../../core/shares/consent-receipt.ts";
import { toIso } from "../../../core/time.ts";
import { timeSchema, nullableSchema } from "../../http/wire.ts";
import type { AccountExport } from "../../operations/consumers/export-account.ts";
import type { Services } from "../../platform/platform.ts";
import { consumerTokensToWire, getAgentTokenSchemas } from "../agent-tokens/routes.ts";
import { auditEntryToWire, pendingEntryToWire, auditTrailSchema } from "../audit/schema.ts";
import { anchorSchema } from "../certificates/schema.ts";
import { getRemovalSchemas, removalToWire } from "../removals/routes.ts";
import { shareSchema, shareToWire } from "../shares/schema.ts";
import { contactFieldsSchema, contactFieldsToWire, profileSchema, profileToWire } from "./schema.ts";

/** The schema is created on first use, because only the OpenAPI document needs it. */
export const getAccountExportSchema = once(() =>
  z
    .object({
      export_version: z.literal("1"),
      exported_at: timeSchema,
      profile: profileSchema,
      fields: contactFieldsSchema.meta({
        description: "Your contact fields, as in `GET /v1/me/fields`: the values, and when each was last set.",
      }),
      shares: z.array(
        shareSchema
          .extend({
            disclosure_text: z.string().nullable(),
            anchor: nullableSchema(anchorSchema),
            granted: z.record(z.string(), z.string()).meta({ description: "Values that you shared when you gave consent." }),
          })
          .openapi("ExportedShare"),
      ),
      audit: auditTrailSchema.shape.entries.meta({ description: "Your entire audit chain, newest first." }),
      audit_pending: auditTrailSchema.shape.pending.meta({ description: "Recent entries that are not in the chain yet." }),
      removals: z.array(getRemovalSchemas().removalSchema),
      agent_tokens: getAgentTokenSchemas().consumerTokensSchema.shape.agent_tokens.meta({
        description: "Your active agent tokens, without the token values.",
      }),
      receipts: z
        .array(z.record(z.string(), z.unknown()))
        .meta({ description: "A consent receipt for each share (ISO/IEC TS 27560, JSON-LD)." }),
    })
    .openapi("AccountExport"),
);

export const accountExportToWire = (
  account: AccountExport,
  tokens: readonly AgentToken[],
  services: Pick<Services, "config">,
): z.input<ReturnType<typeof getAccountExportSchema>> => ({
  export_version: "1",
  exported_at: toIso(account.at),
  profile: profileToWire(account.profile),
  fields: contactFieldsToWire(account.fields),
  shares: account.shares.map(({ share, disclosureText, anchor, granted }) => ({
    ...shareToWire(share, account.at),
    disclosure_text: disclosureText === "" ? null : disclosureText,
    anchor: toAnchorView(anchor) as z.input<typeof anchorSchema> | null,
    granted: Object.fromEntries(Object.entries(granted).map(([key, { value }]) => [key, value])),
  })),
  audit: account.audit.map(auditEntryToWire),
  audit_pending: account.pending.map(pendingEntryToWire),
  removals: account.removals.map((removal) => removalToWire(services, removal)),
  agent_tokens: consumerTokensToWire(tokens).agent_tokens,
  receipts: account.shares.map(({ share, subjectHash, country, anchor }) =>
    buildShareReceipt({ share, subjectHash, country, anchor, manageUrl: `${services.config.appUrl}/app/shares/${share.id}` }),
  ),
});
