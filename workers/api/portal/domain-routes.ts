// The domains of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { challengesOf, methods } from "../../../core/accounts/domain-claim.ts";
import { domainIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody, optionalJsonBody } from "../../http/body.ts";
import { answer, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards.ts";
import { answerKept, idempotent, sentKey, takesKey } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal, ownerOnly } from "../../http/session-guards.ts";
import { answerOf, bodyOf, deletedSchema, deletedToWire, optionalBodyOf, idParam, time } from "../../http/wire.ts";
import { claimDomain, dropDomain, listDomains, proveDomain, type Domain } from "../../operations/portal/domains.ts";

const exampleDomainId = "dom_00m4x8c1v6b3n9q2t7w0h5k3d8";

const domainParam = z.object({ domain_id: idParam(domainIdOf, "Id of the domain, prefix `dom_`.", exampleDomainId) });

const claimSchema = z
  .object({
    domain: z.string().max(300).openapi({ description: "A host name without scheme, port or path.", example: "acme-solar.example" }),
  })
  .openapi("DomainClaim");

const methodSchema = z.enum(methods);
const proveSchema = z
  .object({ method: methodSchema.nullish().openapi({ description: "Left out: all of them.", example: "dns" }) })
  .openapi("DomainProof");

const domainSchema = z
  .object({
    id: z.string(),
    domain: z.string(),
    status: z.enum(["pending", "verified", "lapsed"]),
    token: z.string().nullable().openapi({ description: "What the proofs hold. Null for a domain that was proved otherwise." }),
    expires_at: time.nullable().openapi({ description: "Until when a pending domain can be proved." }),
    methods: z
      .object({
        dns: z.object({ type: z.literal("TXT"), name: z.string(), value: z.string() }),
        meta: z.object({ tag: z.string(), url: z.string() }),
        well_known: z.object({ url: z.string(), body: z.string() }),
      })
      .nullable()
      .openapi({ description: "Three ways to publish the proof; one is enough." }),
    method: methodSchema.nullable().openapi({ description: "By which it was proved." }),
    verified_at: time.nullable(),
    covers_subdomains: z.boolean().openapi({ description: "True for a proof by DNS." }),
    checked_at: time.nullable().openapi({ description: "When the proof was last looked for and an answer came." }),
    lapses_at: time.nullable().openapi({ description: "The proof is missing: until when it may be published again." }),
    created_at: time,
  })
  .openapi("Domain");

const domainToWire = (domain: Domain): z.input<typeof domainSchema> => {
  const challenges = domain.token === null ? null : challengesOf(domain.domain, domain.token);
  return {
    id: domain.id,
    domain: domain.domain,
    status: domain.status,
    token: domain.token,
    expires_at: isoOrNull(domain.expiresAt),
    methods: challenges && { dns: challenges.dns, meta: challenges.meta, well_known: challenges.wellKnown },
    method: domain.method,
    verified_at: isoOrNull(domain.verifiedAt),
    covers_subdomains: domain.status === "verified" && domain.method === "dns",
    checked_at: isoOrNull(domain.checkedAt),
    lapses_at: isoOrNull(domain.lapsesAt),
    created_at: isoOf(domain.createdAt),
  };
};

const domainExample = domainToWire({
  id: exampleDomainId,
  domain: "acme-solar.example",
  status: "pending",
  method: null,
  verifiedAt: null,
  createdAt: Date.UTC(2026, 2, 4, 5, 6, 7, 89),
  token: "0f1e2d3c4b5a69788796a5b4c3d2e1f001122334",
  expiresAt: Date.UTC(2026, 2, 18, 5, 6, 7, 89),
  checkedAt: null,
  lapsesAt: null,
});

const createRoute = routesOf("portal");

const noSuch = { not_found: "There is no such domain, or it is not yours." } as const;

const checksCounted = limitByAccount(
  "DOMAIN_CHECKS_PER_BUSINESS",
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
