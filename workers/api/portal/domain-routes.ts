// The domains of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { optionalJsonBody, jsonBody } from "../../http/body.ts";
import type { MemberCaller } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { limited } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { noBody, portal, readFailures, writeFailures } from "../../http/portal-wire.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, idempotencyHeaders, rateHeaders, repeatHeaders } from "../../http/wire.ts";
import { claimDomain, dropDomain, listDomains, proveDomain } from "../../operations/portal/domains.ts";
import { claimSchema, domainExample, domainParam, domainSchema, domainToWire, exampleDomainId, proveSchema } from "./domain-schema.ts";

const checksCounted = createMiddleware<MemberCaller>(async (c, next) => {
  const name = "DOMAIN_CHECKS_PER_BUSINESS";
  const refused = limited(c, name, await c.var.services.takeExactly(name, c.var.member.business.id));
  if (refused !== null) return refused;
  await next();
});

const claimRoute = createRoute({
  ...portal,
  method: "post",
  path: "/v1/business/portal/domains",
  operationId: "addDomain",
  summary: "Claim a domain",
  description:
    "Owners only. Answers with three ways to prove it; one is enough, within 14 days. A proof by DNS covers sub-domains, the others the very host and `www.`. Another business may prove the same domain with its own token.",
  middleware: behindPortal(ownerOnly, jsonBody),
  request: { headers: idempotencyHeaders, body: bodyOf(claimSchema, { domain: domainExample.domain }) },
  responses: {
    201: {
      description: "Claimed. Publish one of the proofs.",
      headers: repeatHeaders,
      content: answerOf("ClaimedDomainAnswer", domainSchema, domainExample),
    },
    ...writeFailures(["owner_required", "domain_taken", "domain_limit", "idempotency_conflict"], {
      invalid_request: "No host name, an address, or a public suffix.",
    }),
  },
});

const listRoute = createRoute({
  ...portal,
  method: "get",
  path: "/v1/business/portal/domains",
  operationId: "listDomains",
  summary: "List your domains",
  description: "Newest first.",
  middleware: behindPortal(),
  responses: {
    200: {
      description: "The domains.",
      headers: rateHeaders,
      content: answerOf("DomainsAnswer", z.object({ domains: z.array(domainSchema) }), { domains: [domainExample] }),
    },
    ...readFailures(),
  },
});

const proveRoute = createRoute({
  ...portal,
  method: "post",
  path: "/v1/business/portal/domains/{domain_id}/verify",
  operationId: "verifyDomain",
  summary: "Look for the proof of a domain",
  description:
    "Owners only. Looks where the proof is to be published, by one way or, left out, by all until one is found. Two resolvers must see a TXT record. Afterwards the proof is looked for once a week: after three misses, two weeks after the owners were told, the domain is `lapsed`.",
  middleware: behindPortal(ownerOnly, checksCounted, optionalJsonBody, idempotent),
  request: {
    params: domainParam,
    headers: idempotencyHeaders,
    body: { required: false, content: { "application/json": { schema: proveSchema, example: { method: "dns" } } } },
  },
  responses: {
    200: {
      description: "The proof is there.",
      headers: repeatHeaders,
      content: answerOf("VerifiedDomainAnswer", domainSchema, {
        ...domainExample,
        status: "verified",
        expires_at: null,
        method: "dns",
        verified_at: "2026-03-04T06:00:00.000Z",
        checked_at: "2026-03-04T06:00:00.000Z",
        covers_subdomains: true,
      }),
    },
    ...writeFailures(["owner_required", "not_found", "domain_unverified", "idempotency_conflict"], {
      domain_unverified: "The message says what was seen, for each way that was tried.",
      rate_limited: "More than 60 looks in an hour by one business, or 120 requests a minute by one person.",
    }),
  },
});

const dropRoute = createRoute({
  ...portal,
  method: "delete",
  path: "/v1/business/portal/domains/{domain_id}",
  operationId: "removeDomain",
  summary: "Remove a domain",
  description: "Owners only. Forms on it get no certificates from now on; certificates that were issued stay as they are.",
  middleware: behindPortal(ownerOnly, optionalJsonBody),
  request: { params: domainParam },
  responses: {
    200: {
      description: "It is removed.",
      headers: rateHeaders,
      content: answerOf("RemovedDomainAnswer", z.object({ deleted: z.literal(true), id: z.string() }), {
        deleted: true,
        id: exampleDomainId,
      }),
    },
    ...writeFailures(["owner_required", "not_found"], { invalid_request: noBody }),
  },
});

export const domains = newApi();

domains.openapi(claimRoute, async (c) => {
  const idempotencyKey = c.req.valid("header")["Idempotency-Key"] ?? null;
  const claimed = await claimDomain(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey });
  if (!claimed.ok) return refusal(c, claimed);
  if (claimed.value.replayed) c.header("Idempotency-Replayed", "true");
  return success(c, 201, domainToWire(claimed.value.value));
});

domains.openapi(listRoute, async (c) => success(c, 200, { domains: (await listDomains(c.var.services, c.var.member)).map(domainToWire) }));

domains.openapi(proveRoute, async (c) => {
  const { domain_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const proved = await proveDomain(c.var.services, c.var.member, id, c.req.valid("json")?.method ?? null);
  return proved.ok ? success(c, 200, domainToWire(proved.value)) : refusal(c, proved);
});

domains.openapi(dropRoute, async (c) => {
  const { domain_id: id } = c.req.valid("param");
  if (id === null) return failure(c, "not_found");
  const dropped = await dropDomain(c.var.services, c.var.member, id);
  return dropped.ok ? success(c, 200, { deleted: true as const, id: dropped.value }) : refusal(c, dropped);
});
