// Audit trail routes. Members read their business's audit trail; consumers read their own.
import { getAuditTrail } from "../../operations/audit/get-audit-trail.ts";
import { respond } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { successResponse } from "../../http/wire.ts";
import { auditTrailToWire, auditTrailQuerySchema, auditTrailSchema } from "./schema.ts";

const createRoute = createRouteFactory("audit");

const auditTrailResponse = successResponse("A page of audit entries, newest first.", "AuditTrailResponse", auditTrailSchema, {
  chain: "00112233445566778899aabbccddeeff",
  chain_index: null,
  algorithm: "svc-audit-v1",
  entries: [],
  head: null,
  next_before_seq: null,
  pending: [],
  proof: null,
});

const getBusinessAuditTrailRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/audit",
  operationId: "businessAuditTrail",
  summary: "Read your audit trail",
  description:
    "Returns what happened to your records, newest first: every issuance, read, export, withdrawal and endpoint change. Each entry contains the hash of the previous entry. The proof shows that the audit log contains the newest entry, and that no entry was left out up to the time of `proof.heads.record`. To verify it, see `/docs/ledger`.",
  middleware: portalGuard(),
  request: { query: auditTrailQuerySchema },
  responses: { 200: auditTrailResponse },
});

const getConsumerAuditTrailRoute = createRoute({
  method: "get",
  path: "/v1/me/audit",
  operationId: "ownAuditTrail",
  summary: "Read the audit trail of your account",
  description: "Returns what happened to your account and your records, newest first, with proof that no entry was changed or left out.",
  middleware: consumerGuard(),
  request: { query: auditTrailQuerySchema },
  responses: { 200: auditTrailResponse },
});

export const auditRoutes = createApi();

auditRoutes.openapi(getBusinessAuditTrailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  return respond(c, 200, await getAuditTrail(c.var.services, c.var.member.business, { limit, beforeSeq }), auditTrailToWire);
});

auditRoutes.openapi(getConsumerAuditTrailRoute, async (c) => {
  const { limit, before_seq: beforeSeq } = c.req.valid("query");
  const { userId: id, chain } = c.var.consumer;
  return respond(c, 200, await getAuditTrail(c.var.services, { id, chain }, { limit, beforeSeq }), auditTrailToWire);
});
