// Routes to add, list, verify and remove a business's domains.
import { z } from "@hono/zod-openapi";
import { buildDomainChallenges, verificationMethods } from "../../../core/accounts/domain-claim.ts";
import { parseDomainId } from "../../../core/ids.ts";
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
  toWire,
} from "../../http/wire.ts";
import type { Domain } from "../../../storage/domains.ts";
import { addDomain } from "../../operations/portal/add-domain.ts";
import { listDomains } from "../../operations/portal/list-domains.ts";
import { removeDomain } from "../../operations/portal/remove-domain.ts";
import { verifyDomain } from "../../operations/portal/verify-domain.ts";

const exampleDomainId = "dom_00m4x8c1v6b3n9q2t7w0h5k3d8";

const domainIdParamSchema = z.object({ domain_id: idParamSchema(parseDomainId, "ID of the domain. Starts with `dom_`.", exampleDomainId) });

const domainClaimSchema = z
  .object({
    domain: z.string().max(300).meta({ description: "Host name without scheme, port or path.", example: "acme-solar.example" }),
  })
  .openapi("DomainClaim");

const verificationMethodSchema = z.enum(verificationMethods);
const domainVerificationSchema = z
  .object({
    method: verificationMethodSchema.nullish().meta({ description: "Verification method to check. Default: all.", example: "dns" }),
  })
  .openapi("DomainProof");

const domainSchema = z
  .object({
    id: z.string(),
    domain: z.string(),
    status: z.enum(["pending", "verified", "lapsed"]),
    token: z
      .string()
      .nullable()
      .meta({ description: "Token to publish for the verification. `null` for a domain that was verified without a token." }),
    expires_at: timeSchema.nullable().meta({ description: "Deadline for verifying a pending domain." }),
    methods: z
      .object({
        dns: z.object({ type: z.literal("TXT"), name: z.string(), value: z.string() }),
        meta: z.object({ tag: z.string(), url: z.string() }),
        well_known: z.object({ url: z.string(), body: z.string() }),
      })
      .nullable()
      .meta({ description: "Ways to publish the token. One is enough." }),
    method: verificationMethodSchema.nullable().meta({ description: "Method that verified the domain." }),
    verified_at: timeSchema.nullable(),
    covers_subdomains: z.boolean().meta({ description: "`true` if the verification also covers subdomains, because it used DNS." }),
    checked_at: timeSchema
      .nullable()
      .meta({ description: "When the domain was last checked. Short outages of your site do not count as checks." }),
    lapses_at: timeSchema
      .nullable()
      .meta({ description: "Deadline by which the token must be published again, if the last check did not find it." }),
    created_at: timeSchema,
  })
  .openapi("Domain");

const domainToWire = (domain: Domain): z.input<typeof domainSchema> => {
  const challenges = domain.token === null ? null : buildDomainChallenges(domain.domain, domain.token);
  return toWire(domainSchema, {
    ...domain,
    methods: challenges && { dns: challenges.dns, meta: challenges.meta, well_known: challenges.wellKnown },
    coversSubdomains: domain.status === "verified" && domain.method === "dns",
  });
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

const domainNotFoundRefusal = { not_found: "The domain does not exist or is not yours." } as const;

const limitDomainChecks = limitByAccount(
  "DOMAIN_CHECKS_PER_BUSINESS",
  "More than 60 checks per hour by one business, or 120 requests per minute by one person.",
);

const addDomainRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/domains",
  operationId: "addDomain",
  summary: "Add a domain",
  description:
    "Owners only. Returns three ways to verify the domain. Use one of them within 14 days. DNS verification covers subdomains; the other two cover only the host itself and its `www.` subdomain. Another business can verify the same domain with its own token.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyKeyGuard),
  request: { body: requestBody(domainClaimSchema, { domain: domainExample.domain }) },
  responses: {
    201: successResponse(
      "The domain was added. Publish the token in one of the three ways.",
      "ClaimedDomainResponse",
      domainSchema,
      domainExample,
    ),
  },
  refuses: ["domain_taken", "domain_limit"],
  when: { invalid_request: "`domain` is not a host name, is an IP address, or is a public suffix." },
});

const listDomainsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/domains",
  operationId: "listDomains",
  summary: "List your domains",
  description: "Returns your domains, newest first.",
  middleware: portalGuard(),
  responses: {
    200: successResponse("Your domains.", "DomainsResponse", () => z.object({ domains: z.array(domainSchema) }), {
      domains: [domainExample],
    }),
  },
});

const verifyDomainRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/domains/{domain_id}/verify",
  operationId: "verifyDomain",
  summary: "Verify a domain",
  description:
    "Owners only. Looks for the published token with `method`, or with all methods if you omit it. All DNS resolvers that we use must find the TXT record. Verified domains are checked again once a week. If a check does not find the token, we notify the owners. If the token is still missing two weeks later, after at least three failed checks in a row, the domain becomes `lapsed`.",
  middleware: portalGuard(requireOwner, limitDomainChecks, optionalJsonBody, idempotencyGuard),
  request: { params: domainIdParamSchema, body: optionalRequestBody(domainVerificationSchema, { method: "dns" }) },
  responses: {
    200: successResponse("The domain is verified.", "VerifiedDomainResponse", domainSchema, {
      ...domainExample,
      status: "verified",
      expires_at: null,
      method: "dns",
      verified_at: "2026-03-04T06:00:00.000Z",
      checked_at: "2026-03-04T06:00:00.000Z",
      covers_subdomains: true,
    }),
  },
  when: { ...domainNotFoundRefusal, domain_unverified: "The token was not found. The message says what each method found." },
});

const removeDomainRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/domains/{domain_id}",
  operationId: "removeDomain",
  summary: "Remove a domain",
  description:
    "Owners only. Forms on the domain no longer get certificates, and share requests from it are refused. Existing certificates do not change.",
  middleware: portalGuard(requireOwner, noBody),
  request: { params: domainIdParamSchema },
  responses: { 200: successResponse("The domain was removed.", "RemovedDomainResponse", deletedSchema, deletedToWire(exampleDomainId)) },
  when: domainNotFoundRefusal,
});

export const domainRoutes = createApi();

domainRoutes.openapi(addDomainRoute, async (c) => {
  const added = await addDomain(c.var.services, c.var.member, { ...c.req.valid("json"), idempotencyKey: getIdempotencyKey(c) });
  return respondIdempotent(c, added, domainToWire);
});

domainRoutes.openapi(listDomainsRoute, async (c) =>
  success(c, 200, { domains: (await listDomains(c.var.services, c.var.member)).map(domainToWire) }),
);

domainRoutes.openapi(verifyDomainRoute, async (c) => {
  const { services, member } = c.var;
  const verified = await verifyDomain(services, member, c.req.valid("param").domain_id, c.req.valid("json")?.method ?? null);
  return respond(c, 200, verified, domainToWire);
});

domainRoutes.openapi(removeDomainRoute, async (c) => {
  return respond(c, 200, await removeDomain(c.var.services, c.var.member, c.req.valid("param").domain_id), deletedToWire);
});
