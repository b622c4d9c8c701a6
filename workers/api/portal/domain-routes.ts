// The domains of a business (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import { buildDomainChallenges, verificationMethods } from "../../../core/accounts/domain-claim.ts";
import { parseDomainId } from "../../../core/ids.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody, noBody, optionalJsonBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { respondIdempotent, idempotencyGuard, getIdempotencyKey, idempotencyKeyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import {
  successResponse,
  requestBody,
  deletedSchema,
  deletedToWire,
  optionalRequestBody,
  idParamSchema,
  timeSchema,
} from "../../http/wire.ts";
import type { Domain } from "../../../storage/domains.ts";
import { claimDomain } from "../../operations/portal/claim-domain.ts";
import { listDomains } from "../../operations/portal/list-domains.ts";
import { releaseDomain } from "../../operations/portal/release-domain.ts";
import { verifyDomain } from "../../operations/portal/verify-domain.ts";

const exampleDomainId = "dom_00m4x8c1v6b3n9q2t7w0h5k3d8";

const domainIdParamSchema = z.object({ domain_id: idParamSchema(parseDomainId, "Id of the domain, prefix `dom_`.", exampleDomainId) });

const domainClaimSchema = z
  .object({
    domain: z.string().max(300).openapi({ description: "A host name without scheme, port or path.", example: "acme-solar.example" }),
  })
  .openapi("DomainClaim");

const verificationMethodSchema = z.enum(verificationMethods);
const domainVerificationSchema = z
  .object({ method: verificationMethodSchema.nullish().openapi({ description: "Left out: all of them.", example: "dns" }) })
  .openapi("DomainProof");

const domainSchema = z
  .object({
    id: z.string(),
    domain: z.string(),
    status: z.enum(["pending", "verified", "lapsed"]),
    token: z.string().nullable().openapi({ description: "What the proofs hold. Null for a domain that was proved otherwise." }),
    expires_at: timeSchema.nullable().openapi({ description: "Until when a pending domain can be proved." }),
    methods: z
      .object({
        dns: z.object({ type: z.literal("TXT"), name: z.string(), value: z.string() }),
        meta: z.object({ tag: z.string(), url: z.string() }),
        well_known: z.object({ url: z.string(), body: z.string() }),
      })
      .nullable()
      .openapi({ description: "Three ways to publish the proof; one is enough." }),
    method: verificationMethodSchema.nullable().openapi({ description: "By which it was proved." }),
    verified_at: timeSchema.nullable(),
    covers_subdomains: z.boolean().openapi({ description: "True for a proof by DNS." }),
    checked_at: timeSchema.nullable().openapi({ description: "When the proof was last looked for and an answer came." }),
    lapses_at: timeSchema.nullable().openapi({ description: "The proof is missing: until when it may be published again." }),
    created_at: timeSchema,
  })
  .openapi("Domain");

const domainToWire = (domain: Domain): z.input<typeof domainSchema> => {
  const challenges = domain.token === null ? null : buildDomainChallenges(domain.domain, domain.token);
  return {
    id: domain.id,
    domain: domain.domain,
    status: domain.status,
    token: domain.token,
    expires_at: toIsoOrNull(domain.expiresAt),
    methods: challenges && { dns: challenges.dns, meta: challenges.meta, well_known: challenges.wellKnown },
    method: domain.method,
    verified_at: toIsoOrNull(domain.verifiedAt),
    covers_subdomains: domain.status === "verified" && domain.method === "dns",
    checked_at: toIsoOrNull(domain.checkedAt),
    lapses_at: toIsoOrNull(domain.lapsesAt),
    created_at: toIso(domain.createdAt),
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

const createRoute = createRouteFactory("portal");

const domainNotFoundRefusal = { not_found: "There is no such domain, or it is not yours." } as const;

const limitDomainChecks = limitByAccount(
  "DOMAIN_CHECKS_PER_BUSINESS",
  "More than 60 looks in an hour by one business, or 120 requests a minute by one person.",
);

const addDomainRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/domains",
  operationId: "addDomain",
  summary: "Claim a domain",
  description:
    "Owners only. Answers with three ways to prove it; one is enough, within 14 days. A proof by DNS covers sub-domains, the others the very host and `www.`. Another business may prove the same domain with its own token.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(domainClaimSchema, { domain: domainExample.domain }) },
  responses: { 201: successResponse("Claimed. Publish one of the proofs.", "ClaimedDomainAnswer", domainSchema, domainExample) },
  refuses: ["domain_taken", "domain_limit"],
  when: { invalid_request: "No host name, an address, or a public suffix." },
});

const listDomainsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/domains",
  operationId: "listDomains",
  summary: "List your domains",
  description: "Newest first.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("The domains.", "DomainsAnswer", z.object({ domains: z.array(domainSchema) }), { domains: [domainExample] }),
  },
});

const verifyDomainRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/domains/{domain_id}/verify",
  operationId: "verifyDomain",
  summary: "Look for the proof of a domain",
  description:
    "Owners only. Looks where the proof is to be published, by one way or, left out, by all until one is found. Two resolvers must see a TXT record. Afterwards the proof is looked for once a week: after three misses, two weeks after the owners were told, the domain is `lapsed`.",
  middleware: portalGuard(requireOwner, limitDomainChecks, optionalJsonBody, idempotencyGuard),
  request: { params: domainIdParamSchema, body: optionalRequestBody(domainVerificationSchema, { method: "dns" }) },
  responses: {
    200: successResponse("The proof is there.", "VerifiedDomainAnswer", domainSchema, {
      ...domainExample,
      status: "verified",
      expires_at: null,
      method: "dns",
      verified_at: "2026-03-04T06:00:00.000Z",
      checked_at: "2026-03-04T06:00:00.000Z",
      covers_subdomains: true,
    }),
  },
  when: { ...domainNotFoundRefusal, domain_unverified: "The message says what was seen, for each way that was tried." },
});

const removeDomainRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/domains/{domain_id}",
  operationId: "removeDomain",
  summary: "Remove a domain",
  description: "Owners only. Forms on it get no certificates from now on; certificates that were issued stay as they are.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: domainIdParamSchema },
  responses: { 200: successResponse("It is removed.", "RemovedDomainAnswer", deletedSchema, deletedToWire(exampleDomainId)) },
  when: domainNotFoundRefusal,
});

export const domainRoutes = createApi();

domainRoutes.openapi(addDomainRoute, async (c) => {
  const claimed = await claimDomain(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: getIdempotencyKey(c) });
  return respondIdempotent(c, claimed, domainToWire);
});

domainRoutes.openapi(listDomainsRoute, async (c) =>
  success(c, 200, { domains: (await listDomains(c.var.services, c.var.member)).map(domainToWire) }),
);

domainRoutes.openapi(verifyDomainRoute, async (c) => {
  const { services, member } = c.var;
  const proved = await verifyDomain(services, member, c.req.valid("param").domain_id, c.req.valid("json")?.method ?? null);
  return respond(c, 200, proved, domainToWire);
});

domainRoutes.openapi(removeDomainRoute, async (c) => {
  return respond(c, 200, await releaseDomain(c.var.services, c.var.member, c.req.valid("param").domain_id), deletedToWire);
});
