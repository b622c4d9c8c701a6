// The wire of the audit trail: what happened to a business's records, and the proof that nothing was changed or left out.
import { z } from "@hono/zod-openapi";
import type { Context, Hono } from "hono";
import { auditTrail } from "../../operations/audit.ts";
import { anchorSchema, orNull } from "../certificates/schema.ts";
import type { Api } from "../../http/context.ts";
import { answer, failure, refusal } from "../../http/envelope.ts";
import { preflight } from "../../http/guards.ts";
import { createRoute, mount } from "../../http/openapi.ts";
import { queryOf } from "./query.ts";
import { appOnly, portal } from "../../http/session-guards.ts";
import { envelope, enveloped, failures, rateHeaders, schemaFault } from "../../http/wire.ts";

const usualLimit = 50;
const mostAPage = 200;

const count = z
  .string()
  .regex(/^[1-9]\d{0,14}$/) // 15 digits are exact in a double
  .transform(Number);

const trailQuery = z.object({
  limit: count.optional().openapi({
    type: "integer",
    minimum: 1,
    default: usualLimit,
    description: `At most ${mostAPage}; larger is answered as ${mostAPage}.`,
  }),
  before_seq: count
    .optional()
    .openapi({ type: "integer", minimum: 1, description: "Entries before this number: `next_before_seq` of the page before." }),
});

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const text = z.string();

const trailSchema = z
  .object({
    chain: text.openapi({ description: "Random name of the chain." }),
    chain_index: z.int().nullable().openapi({ description: "Its place in the log's tree of heads; null before the first entry." }),
    algorithm: z.literal("svc-audit-v1"),
    entries: z
      .array(
        z.object({
          seq: z.int().openapi({ description: "From 1 without gaps. A number here, text where it is hashed." }),
          at: text.openapi({ format: "date-time" }),
          type: text,
          entity_type: text,
          entity_id: text,
          payload: z.record(z.string(), z.unknown()).nullable(),
          payload_salt: text.nullable(),
          erased: z.literal(true).optional().openapi({ description: "The payload was erased; every hash still holds." }),
          payload_hash: hash.openapi({ description: "SHA-256 of canonical `[payload_salt, payload]`." }),
          prev_hash: hash,
          hash: hash.openapi({ description: "SHA-256 of the canonical JSON of the entry's eight bound members." }),
          log_index: text.openapi({ description: "Decimal: its place in the audit log." }),
        }),
      )
      .openapi({ description: "Newest first." }),
    head: z.object({ seq: z.int(), hash }).nullable().openapi({ description: "The chain's newest entry." }),
    next_before_seq: z.int().nullable().openapi({ description: "For the next page; null when there is none." }),
    pending: z
      .array(z.object({ at: text.openapi({ format: "date-time" }), type: text, entity_type: text, entity_id: text }))
      .openapi({ description: "Committed, and not in the chain yet." }),
    proof: z
      .object({
        origin: text,
        checkpoint: text.openapi({ description: "The audit log's signed checkpoint." }),
        head_tlog_proof: text.openapi({ description: "That the log holds the newest entry (c2sp.org/tlog-proof@v1)." }),
        heads: z
          .object({ record: text, record_tlog_proof: text, leaf: text, path: z.array(text), size: text })
          .nullable()
          .openapi({ description: "That nothing was left out up to the log's newest record." }),
        anchor: orNull(anchorSchema).openapi({ description: "The newest checkpoint of the audit log in the ledger." }),
      })
      .nullable(),
  })
  .openapi("AuditTrail", { description: "A page of an audit chain, and what proves it." });

const trailRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/audit",
  operationId: "businessAuditTrail",
  tags: ["audit"],
  summary: "Read your audit trail",
  description:
    "What happened to your records, newest first: every issuance, reading, export, withdrawal and change of an endpoint. Each entry names the hash of the one before; the proof shows that the log holds the newest and that nothing was left out. How to check it is in docs/ledger.md.",
  security: [{ session: [] }],
  request: { query: trailQuery },
  responses: {
    200: {
      description: "One page of the chain, newest first.",
      headers: rateHeaders,
      content: {
        "application/json": {
          schema: envelope("AuditTrailAnswer", trailSchema),
          example: enveloped({
            chain: "00112233445566778899aabbccddeeff",
            chain_index: null,
            algorithm: "svc-audit-v1",
            entries: [],
            head: null,
            next_before_seq: null,
            pending: [],
            proof: null,
          }),
        },
      },
    },
    ...failures(
      ["unauthorized", "business_suspended", "business_inactive", "forbidden", "invalid_request", "rate_limited", "storage_unavailable"],
      {
        unauthorized: "No session, or it has ended.",
        forbidden: "A consumer is signed in, not a member of a business.",
        invalid_request: "The message names the parameter and the rule.",
        rate_limited: "More than 120 a minute by one person.",
      },
    ),
  },
});

const trail = async (c: Context<Api>): Promise<Response> => {
  const { services, member } = c.var;
  if (member === undefined) return failure(c, "unauthorized");
  const given = queryOf(c, ["limit", "before_seq"]);
  if (!given.ok) return refusal(c, given);
  const parsed = trailQuery.safeParse(given.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const query = { limit: Math.min(mostAPage, parsed.data.limit ?? usualLimit), beforeSeq: parsed.data.before_seq ?? null };
  const db = services.homes.of(member.business.id) as NonNullable<ReturnType<typeof services.homes.of>>;
  return answer(c, 200, await auditTrail(services, db, member.business.chain, query));
};

export const mountAudit = (app: Hono<Api>): void => {
  app.use("/v1/business/portal/audit", appOnly);
  app.options("/v1/business/portal/audit", preflight("GET", "Content-Type"));
  mount(app, trailRoute, ...portal, trail);
};
