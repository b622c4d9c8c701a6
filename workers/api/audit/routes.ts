// Audit trails: a business's to its own people, a consumer's to themselves.
import { auditTrail } from "../../operations/audit/trail.ts";
import { answer } from "../../http/envelope.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer, behindPortal } from "../../http/session-guards.ts";
import { answerOf } from "../../http/wire.ts";
import { toWire, trailQuery, trailSchema } from "./schema.ts";

const createRoute = routesOf("audit");

const page = answerOf("One page of the chain, newest first.", "AuditTrailAnswer", trailSchema, {
  chain: "00112233445566778899aabbccddeeff",
  chain_index: null,
  algorithm: "svc-audit-v1",
  entries: [],
  head: null,
  next_before_seq: null,
  pending: [],
  proof: null,
});

const trailRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/audit",
  operationId: "businessAuditTrail",
  summary: "Read your audit trail",
  description:
    "What happened to your records, newest first: every issuance, reading, export, withdrawal and change of an endpoint. Each entry names the hash of the one before; the proof shows that the log holds the newest and that nothing was left out. How to check it is in docs/ledger.md.",
  middleware: behindPortal(),
  request: { query: trailQuery },
  responses: { 200: page },
});

const ownTrailRoute = createRoute({
  method: "get",
  path: "/v1/me/audit",
  operationId: "ownAuditTrail",
  summary: "Read the audit trail of your own account",
  description:
    "What happened to your account and your records, newest first, proven as a business's trail is: nothing in it can be changed or left out without showing.",
  middleware: behindConsumer(),
  request: { query: trailQuery },
  responses: { 200: page },
});

export const audit = newApi();

audit.openapi(trailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  return answer(c, 200, await auditTrail(c.var.services, c.var.member.business, { limit, beforeSeq }), toWire);
});

audit.openapi(ownTrailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  const { userId: id, chain } = c.var.consumer;
  return answer(c, 200, await auditTrail(c.var.services, { id, chain }, { limit, beforeSeq }), toWire);
});
