// The domains of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { jsonBody, noBody, optionalJsonBody } from "../../http/body.ts";
import type { MemberCaller } from "../../http/context.ts";
import { answer, success } from "../../http/envelope.ts";
import { limitExactly } from "../../http/guards.ts";
import { answerKept, idempotent, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, deletedSchema, deletedToWire, optionalBodyOf } from "../../http/wire.ts";
import { claimDomain, dropDomain, listDomains, proveDomain } from "../../operations/portal/domains.ts";
import { claimSchema, domainExample, domainParam, domainSchema, domainToWire, exampleDomainId, proveSchema } from "./domain-schema.ts";

const createRoute = routesOf("portal");

const noSuch = { not_found: "There is no such domain, or it is not yours." } as const;

const checksCounted = limitExactly<MemberCaller>(
  "DOMAIN_CHECKS_PER_BUSINESS",
  ({ member }) => member.business.id,
  "More than 60 looks in an hour by one business, or 120 requests a minute by one person.",
);

const claimRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/domains",
  operationId: "addDomain",
  summary: "Claim a domain",
  description:
    "Owners only. Answers with three ways to prove it; one is enough, within 14 days. A proof by DNS covers sub-domains, the others the very host and `www.`. Another business may prove the same domain with its own token.",
  middleware: behindPortal(ownerOnly, jsonBody, takesKey),
  request: { body: bodyOf(claimSchema, { domain: domainExample.domain }) },
  responses: { 201: answerOf("Claimed. Publish one of the proofs.", "ClaimedDomainAnswer", domainSchema, domainExample) },
  refuses: ["domain_taken", "domain_limit"],
  when: { invalid_request: "No host name, an address, or a public suffix." },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/domains",
  operationId: "listDomains",
  summary: "List your domains",
  description: "Newest first.",
  middleware: behindPortal(),
  responses: { 200: answerOf("The domains.", "DomainsAnswer", z.object({ domains: z.array(domainSchema) }), { domains: [domainExample] }) },
});

const proveRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/domains/{domain_id}/verify",
  operationId: "verifyDomain",
  summary: "Look for the proof of a domain",
  description:
    "Owners only. Looks where the proof is to be published, by one way or, left out, by all until one is found. Two resolvers must see a TXT record. Afterwards the proof is looked for once a week: after three misses, two weeks after the owners were told, the domain is `lapsed`.",
  middleware: behindPortal(ownerOnly, checksCounted, optionalJsonBody, idempotent),
  request: { params: domainParam, body: optionalBodyOf(proveSchema, { method: "dns" }) },
  responses: {
    200: answerOf("The proof is there.", "VerifiedDomainAnswer", domainSchema, {
      ...domainExample,
      status: "verified",
      expires_at: null,
      method: "dns",
      verified_at: "2026-03-04T06:00:00.000Z",
      checked_at: "2026-03-04T06:00:00.000Z",
      covers_subdomains: true,
    }),
  },
  when: { ...noSuch, domain_unverified: "The message says what was seen, for each way that was tried." },
});

const dropRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/domains/{domain_id}",
  operationId: "removeDomain",
  summary: "Remove a domain",
  description: "Owners only. Forms on it get no certificates from now on; certificates that were issued stay as they are.",
  middleware: behindPortal(ownerOnly, noBody),
  request: { params: domainParam },
  responses: { 200: answerOf("It is removed.", "RemovedDomainAnswer", deletedSchema, deletedToWire(exampleDomainId)) },
  when: noSuch,
});

export const domains = newApi();

domains.openapi(claimRoute, async (c) => {
  const claimed = await claimDomain(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: sentKey(c) });
  return answerKept(c, claimed, domainToWire);
});

domains.openapi(listRoute, async (c) => success(c, 200, { domains: (await listDomains(c.var.services, c.var.member)).map(domainToWire) }));

domains.openapi(proveRoute, async (c) => {
  const { services, member } = c.var;
  const proved = await proveDomain(services, member, c.req.valid("param").domain_id, c.req.valid("json")?.method ?? null);
  return answer(c, 200, proved, domainToWire);
});

domains.openapi(dropRoute, async (c) => {
  return answer(c, 200, await dropDomain(c.var.services, c.var.member, c.req.valid("param").domain_id), deletedToWire);
});
