// The wire of domains.
import { z } from "@hono/zod-openapi";
import { challengesOf, methods } from "../../../core/accounts/domain-claim.ts";
import type { VerificationMethod } from "../../../core/access/origins.ts";
import { domainIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { idParam, time } from "../../http/wire.ts";
import type { Domain } from "../../operations/portal/domains.ts";

export const exampleDomainId = "dom_00m4x8c1v6b3n9q2t7w0h5k3d8";

export const domainParam = z.object({ domain_id: idParam(domainIdOf, "Id of the domain, prefix `dom_`.", exampleDomainId) });

export const claimSchema = z
  .object({
    domain: z.string().max(300).openapi({ description: "A host name without scheme, port or path.", example: "acme-solar.example" }),
  })
  .openapi("DomainClaim");

const methodSchema = z.enum(methods as [VerificationMethod, ...VerificationMethod[]]);
export const proveSchema = z
  .object({ method: methodSchema.nullish().openapi({ description: "Left out: all of them.", example: "dns" }) })
  .openapi("DomainProof");

export const domainSchema = z
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

export const domainToWire = (domain: Domain): z.input<typeof domainSchema> => {
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

export const domainExample = domainToWire({
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
