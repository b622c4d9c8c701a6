// The wire of the audit trail: what happened to a business's records, and the proof that nothing was changed or left out.
import { z } from "@hono/zod-openapi";
import type { AuditTrail, AuditPage } from "../../../core/audit/trail.ts";
import { toAnchorView } from "../../../core/certificates/public-json.ts";
import { toIso } from "../../../core/time.ts";
import { limitSchema, nullableSchema, positiveIntSchema, timeSchema } from "../../http/wire.ts";
import { anchorSchema } from "../certificates/schema.ts";

export const auditTrailQuerySchema = z.object({
  limit: limitSchema(50, 200),
  before_seq: positiveIntSchema
    .nullable()
    .default(null)
    .openapi({ type: "integer", minimum: 1, description: "Entries before this number: `next_before_seq` of the page before." }),
});

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const textSchema = z.string();

export const auditTrailSchema = z
  .object({
    chain: textSchema.openapi({ description: "Random name of the chain." }),
    chain_index: z.int().nullable().openapi({ description: "Its place in the log's tree of heads; null before the first entry." }),
    algorithm: z.literal("svc-audit-v1"),
    entries: z
      .array(
        z.object({
          seq: z.int().openapi({ description: "From 1 without gaps. A number here, text where it is hashed." }),
          at: timeSchema,
          type: textSchema,
          entity_type: textSchema,
          entity_id: textSchema,
          payload: z.record(z.string(), z.unknown()).nullable(),
          payload_salt: textSchema.nullable(),
          erased: z.literal(true).optional().openapi({ description: "The payload was erased; every hash still holds." }),
          payload_hash: hashSchema.openapi({ description: "SHA-256 of canonical `[payload_salt, payload]`." }),
          prev_hash: hashSchema,
          hash: hashSchema.openapi({ description: "SHA-256 of the canonical JSON of the entry's eight bound members." }),
          log_index: textSchema.openapi({ description: "Decimal: its place in the audit log." }),
        }),
      )
      .openapi({ description: "Newest first." }),
    head: z.object({ seq: z.int(), hash: hashSchema }).nullable().openapi({ description: "The chain's newest entry." }),
    next_before_seq: z.int().nullable().openapi({ description: "For the next page; null when there is none." }),
    pending: z
      .array(z.object({ at: timeSchema, type: textSchema, entity_type: textSchema, entity_id: textSchema }))
      .openapi({ description: "Committed, and not in the chain yet." }),
    proof: z
      .object({
        origin: textSchema,
        checkpoint: textSchema.openapi({ description: "The audit log's signed checkpoint." }),
        head_tlog_proof: textSchema.openapi({ description: "That the log holds the newest entry (c2sp.org/tlog-proof@v1)." }),
        heads: z
          .object({ record: textSchema, record_tlog_proof: textSchema, leaf: textSchema, path: z.array(textSchema), size: textSchema })
          .nullable()
          .openapi({ description: "That nothing was left out up to the log's newest record." }),
        anchor: nullableSchema(anchorSchema).openapi({ description: "The newest checkpoint of the audit log in the ledger." }),
      })
      .nullable(),
  })
  .openapi("AuditTrail", { description: "A page of an audit chain, and what proves it." });

export const auditEntryToWire = (entry: AuditPage["entries"][number]): z.input<typeof auditTrailSchema>["entries"][number] => ({
  seq: Number(entry.seq),
  at: entry.at,
  type: entry.type,
  entity_type: entry.entity_type,
  entity_id: entry.entity_id,
  payload: entry.committed?.payload ?? null,
  payload_salt: entry.committed?.salt ?? null,
  ...(entry.committed === null && { erased: true }),
  payload_hash: entry.payload_hash,
  prev_hash: entry.prev_hash,
  hash: entry.hash,
  log_index: entry.log_index,
});

export const pendingEntryToWire = ({ at, type, entityType, entityId }: AuditTrail["pending"][number]) => ({
  at: toIso(at),
  type,
  entity_type: entityType,
  entity_id: entityId,
});

export const auditTrailToWire = ({ chain, page, pending, anchor }: AuditTrail): z.input<typeof auditTrailSchema> => ({
  chain,
  chain_index: page?.chainIndex ?? null,
  algorithm: "svc-audit-v1",
  entries: page?.entries.map(auditEntryToWire) ?? [],
  head: page === null ? null : { seq: Number(page.head.seq), hash: page.head.hash },
  next_before_seq: page === null || page.nextBeforeSeq === null ? null : Number(page.nextBeforeSeq),
  pending: pending.map(pendingEntryToWire),
  proof:
    page === null
      ? null
      : {
          origin: page.proof.origin,
          checkpoint: page.proof.checkpoint,
          head_tlog_proof: page.proof.head_tlog_proof,
          heads: page.proof.heads === null ? null : { ...page.proof.heads, path: [...page.proof.heads.path] },
          anchor: toAnchorView(anchor),
        },
});
