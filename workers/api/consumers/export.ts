// The wire of an export: everything that is kept about a person, in one file. It has no envelope, since it is a file.
import { z } from "@hono/zod-openapi";
import type { AgentToken } from "../../../core/agents/token.ts";
import { anchorView } from "../../../core/certificates/views.ts";
import { shareReceipt } from "../../../core/shares/consent-receipt.ts";
import { isoOf } from "../../../core/time.ts";
import { time, orNull } from "../../http/wire.ts";
import type { AccountExport } from "../../operations/consumers/export.ts";
import type { Services } from "../../services.ts";
import { consumerTokensSchema, consumerTokensToWire } from "../agents/routes.ts";
import { entryToWire, pendingToWire, trailSchema } from "../audit/schema.ts";
import { anchorSchema } from "../certificates/schema.ts";
import { removalSchema, removalToWire } from "../removals/routes.ts";
import { shareSchema, shareToWire } from "../shares/schema.ts";
import { fieldsSchema, fieldsToWire, profileSchema, profileToWire } from "./schema.ts";

const text = z.string();
const whatever = z.record(z.string(), z.unknown());

export const exportSchema = z
  .object({
    export_version: z.literal("1"),
    exported_at: time,
    profile: profileSchema,
    fields: fieldsSchema,
    shares: z.array(
      shareSchema
        .extend({
          disclosure_text: text.nullable(),
          anchor: orNull(anchorSchema),
          granted: z.record(z.string(), z.string()).openapi({ description: "Your values at the moment you agreed." }),
        })
        .openapi("ExportedShare"),
    ),
    audit: trailSchema.shape.entries.openapi({ description: "Your whole audit chain, the newest first." }),
    audit_pending: trailSchema.shape.pending.openapi({ description: "Entries that are on their way into it." }),
    removals: z.array(removalSchema),
    agent_tokens: consumerTokensSchema.shape.agent_tokens.openapi({
      description: "Live tokens of assistants: what is known of them, never the token.",
    }),
    receipts: z.array(whatever).openapi({ description: "One of each share, as ISO/IEC TS 27560 JSON-LD." }),
  })
  .openapi("AccountExport");

export const exportToWire = (
  account: AccountExport,
  tokens: readonly AgentToken[],
  services: Pick<Services, "config">,
): z.input<typeof exportSchema> => ({
  export_version: "1",
  exported_at: isoOf(account.at),
  profile: profileToWire(account.profile),
  fields: fieldsToWire(account.fields),
  shares: account.shares.map(({ share, disclosureText, anchor, granted }) => ({
    ...shareToWire(share, account.at),
    disclosure_text: disclosureText === "" ? null : disclosureText,
    anchor: anchorView(anchor) as z.input<typeof anchorSchema> | null,
    granted: Object.fromEntries(Object.entries(granted).map(([key, { value }]) => [key, value])),
  })),
  audit: account.audit.map(entryToWire),
  audit_pending: account.pending.map(pendingToWire),
  removals: account.removals.map((removal) => removalToWire(services, removal)),
  agent_tokens: consumerTokensToWire(tokens).agent_tokens,
  receipts: account.shares.map(({ share, subjectHash, country, anchor }) =>
    shareReceipt({ share, subjectHash, country, anchor, manageUrl: `${services.config.appUrl}/app/shares/${share.id}` }),
  ),
});
