// Schemas and mappers for the audit trail and its proof.
import { z } from "@hono/zod-openapi";
import type { AuditTrail, AuditPage } from "../../../core/audit/trail.ts";
import { toAnchorView } from "../../../core/certificates/public-json.ts";
import { limitSchema, nullableSchema, positiveIntSchema, timeSchema, toWire } from "../../http/wire.ts";
import { anchorSchema } from "../certificates/schema.ts";

export const auditTrailQuerySchema = z.object({
  limit: limitSchema(50, 200),
  before_seq: positiveIntSchema.nullable().default(null).meta({
    type: "integer",
    minimum: 1,
    description: "Returns only entries with a lower `seq`. Use `next_before_seq` from the previous page.",
  }),
});

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const textSchema = z.string();

const pendingEntrySchema = z.object({ at: timeSchema, type: textSchema, entity_type: textSchema, entity_id: textSchema });

export const auditTrailSchema = z
  .object({
    chain: textSchema.meta({ description: "Random name of the audit chain." }),
    chain_index: z.int().nullable().meta({
      description: "Index of the chain in the tree of heads (a Merkle tree of all chains). `null` before the first entry.",
    }),
    algorithm: z.literal("svc-audit-v1"),
    entries: z
      .array(
        z.object({
          seq: z.int().meta({
            description: "Position in the chain, starting at 1, without gaps. It is a number here but a string in the hashed text.",
          }),
          at: timeSchema,
          type: textSchema,
          entity_type: textSchema,
          entity_id: textSchema,
          payload: z.record(z.string(), z.unknown()).nullable(),
          payload_salt: textSchema.nullable(),
          erased: z
            .literal(true)
            .optional()
            .meta({ description: "`true` if the payload was erased, otherwise absent. The hashes remain valid." }),
          payload_hash: hashSchema.meta({ description: "SHA-256 of the canonical JSON `[payload_salt, payload]`." }),
          prev_hash: hashSchema,
          hash: hashSchema.meta({
            description: "SHA-256 of the canonical JSON with the eight string members listed in `/docs/ledger`.",
          }),
          log_index: textSchema.meta({ description: "Index in the audit log (decimal string)." }),
        }),
      )
      .meta({ description: "Entries on this page, newest first." }),
    head: z.object({ seq: z.int(), hash: hashSchema }).nullable().meta({ description: "Newest entry of the chain." }),
    next_before_seq: z.int().nullable().meta({ description: "`before_seq` for the next page; `null` on the last page." }),
    pending: z.array(pendingEntrySchema).meta({ description: "Recent entries that are not in the chain yet." }),
    proof: z
      .object({
        origin: textSchema,
        checkpoint: textSchema.meta({ description: "Signed checkpoint of the audit log." }),
        head_tlog_proof: textSchema.meta({
          description: "Proof that the audit log contains the newest entry (c2sp.org/tlog-proof@v1).",
        }),
        heads: z
          .object({ record: textSchema, record_tlog_proof: textSchema, leaf: textSchema, path: z.array(textSchema), size: textSchema })
          .nullable()
          .meta({
            description: "Proof that no entry was left out. Entries newer than `record` are not covered. `null` if all entries are newer.",
          }),
        anchor: nullableSchema(anchorSchema).meta({ description: "Ledger anchor of the audit log's newest anchored checkpoint." }),
      })
      .nullable(),
  })
  .openapi("AuditTrail", { description: "A page of audit chain entries, with proof." });

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

export const pendingEntryToWire = (entry: AuditTrail["pending"][number]) => toWire(pendingEntrySchema, entry);

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
