// Audit trails: a business's to its own people, a consumer's to themselves.
import { auditTrail } from "../../operations/audit/trail.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin } from "../../http/guards.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer, behindPortal } from "../../http/session-guards.ts";
import { answerOf, failures, rateHeaders } from "../../http/wire.ts";
import { toWire, trailQuery, trailSchema } from "./schema.ts";

const page = {
  description: "One page of the chain, newest first.",
  headers: rateHeaders,
  content: answerOf("AuditTrailAnswer", trailSchema, {
    chain: "00112233445566778899aabbccddeeff",
    chain_index: null,
    algorithm: "svc-audit-v1",
    entries: [],
    head: null,
    next_before_seq: null,
    pending: [],
    proof: null,
  }),
};
const reasons = {
  unauthorized: "No session, or it has ended.",
  invalid_request: "The message names the parameter and the rule.",
  rate_limited: "More than 120 a minute by one person.",
};

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
    200: page,
    ...failures(
      ["unauthorized", "business_suspended", "business_inactive", "forbidden", "invalid_request", "rate_limited", "storage_unavailable"],
      { ...reasons, forbidden: "A consumer is signed in, not a member of a business." },
    ),
  },
});

const ownTrailRoute = createRoute({
  method: "get",
  path: "/v1/me/audit",
  operationId: "ownAuditTrail",
  tags: ["audit"],
  summary: "Read the audit trail of your own account",
  description:
    "What happened to your account and your records, newest first, proven as a business's trail is: nothing in it can be changed or left out without showing.",
  security: [{ session: [] }],
  middleware: behindConsumer(),
  request: { query: trailQuery },
  responses: {
    200: page,
    ...failures(["unauthorized", "forbidden", "invalid_request", "rate_limited", "storage_unavailable"], {
      ...reasons,
      forbidden: "A member of a business is signed in, not a consumer.",
    }),
  },
});

export const audit = newApi();

for (const path of ["/v1/business/portal/audit", "/v1/me/audit"])
  audit.use(path, appOrigin({ methods: ["GET"], headers: ["Content-Type"] }));

audit.openapi(trailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  const trail = await auditTrail(c.var.services, c.var.member.business, { limit, beforeSeq });
  return trail.ok ? success(c, 200, toWire(trail.value)) : refusal(c, trail);
});

audit.openapi(ownTrailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  const { userId: id, chain } = c.var.consumer;
  const trail = await auditTrail(c.var.services, { id, chain }, { limit, beforeSeq });
  return trail.ok ? success(c, 200, toWire(trail.value)) : refusal(c, trail);
});
