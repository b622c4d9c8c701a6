// GET /v1/business/portal/audit: a business's audit trail, to its own people.
import { auditTrail } from "../../operations/audit/trail.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin } from "../../http/guards.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindPortal } from "../../http/session-guards.ts";
import { envelope, enveloped, failures, rateHeaders } from "../../http/wire.ts";
import { toWire, trailQuery, trailSchema } from "./schema.ts";

const trailRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/audit",
  operationId: "businessAuditTrail",
  tags: ["audit"],
  summary: "Read your audit trail",
  description:
    "What happened to your records, newest first: every issuance, reading, export, withdrawal and change of an endpoint. Each entry names the hash of the one before; the proof shows that the log holds the newest and that nothing was left out. How to check it is in docs/ledger.md.",
  security: [{ session: [] }],
  middleware: behindPortal(),
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

export const audit = newApi();

audit.use("/v1/business/portal/audit", appOrigin({ methods: ["GET"], headers: ["Content-Type"] }));

audit.openapi(trailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  const trail = await auditTrail(c.var.services, c.var.member.business, { limit, beforeSeq });
  return trail.ok ? success(c, 200, toWire(trail.value)) : refusal(c, trail);
});
