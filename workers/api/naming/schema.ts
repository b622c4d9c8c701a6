// The wire of certificates that name the person who is signed in, and of withdrawing from there.
import { z } from "@hono/zod-openapi";
import { verifyUrlOf } from "../../../core/certificates/views.ts";
import { businessIdOf, certIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { idText } from "../../http/wire.ts";
import type { NamingBusinesses, NamingCertificates, WithdrawnMany, WithdrawnOne } from "../../operations/consumers/certificates.ts";
import { timeOf } from "../certificates/schema.ts";

/** Of a page that starts behind something: an id that is none starts nowhere, and is refused. */
const startingAfter = <Id extends string>(idOf: (text: string) => Id | null, what: string) =>
  idText(idOf, `must be the id of a ${what}`).optional().openapi({ type: "string", description: "The last of the page before." });

export const businessesQuery = z.object({ starting_after: startingAfter(businessIdOf, "business") });
export const certificatesQuery = z.object({ starting_after: startingAfter(certIdOf, "certificate") });
/** Null for what is no id: such a business holds nothing about anybody. */
export const businessParam = z.object({
  business_id: z.string().transform(businessIdOf).openapi({ type: "string", description: "Id of the business: `biz_…`." }),
});

export const businessesSchema = z
  .object({
    businesses: z
      .array(
        z.object({
          business_id: z.string(),
          name: z.string(),
          certificates: z.int().openapi({ description: "How many name you; 1,000 stands for that many and more." }),
          active: z.int().openapi({ description: "Of these, how many are not withdrawn; counted likewise." }),
          last_issued_at: timeOf("When the newest was issued"),
        }),
      )
      .openapi({ description: "By id, at most 20." }),
    has_more: z.boolean(),
    incomplete: z.boolean().openapi({ description: "A database did not answer just now: there may be others." }),
  })
  .openapi("BusinessesNamingYou");

export const businessesToWire = (found: NamingBusinesses): z.input<typeof businessesSchema> => ({
  businesses: found.businesses.map(({ id, name, certificates, active, lastIssuedAt }) => ({
    business_id: id,
    name,
    certificates,
    active,
    last_issued_at: isoOf(lastIssuedAt),
  })),
  has_more: found.hasMore,
  incomplete: found.isIncomplete,
});

export const certificatesSchema = z
  .object({
    certificates: z
      .array(
        z.object({
          cert_id: z.string(),
          business_name: z.string().openapi({ description: "As it was when the form was sent." }),
          status: z.enum(["active", "revoked"]),
          purpose: z.string(),
          origin_domain: z.string(),
          issued_at: timeOf("When the form was sent"),
          withdrawn_at: timeOf("When the consent was withdrawn").nullable(),
          cease_by: timeOf("When contact must have ended").nullable(),
          verify_url: z.string().openapi({ description: "Its public page." }),
        }),
      )
      .openapi({ description: "The newest first, at most 50." }),
    has_more: z.boolean(),
  })
  .openapi("CertificatesNamingYou");

export const certificatesToWire = (found: NamingCertificates, verifyBase: string): z.input<typeof certificatesSchema> => ({
  certificates: found.certificates.map((one) => ({
    cert_id: one.id,
    business_name: one.businessName,
    status: one.status,
    purpose: one.purpose,
    origin_domain: one.originDomain,
    issued_at: isoOf(one.issuedAt),
    withdrawn_at: isoOrNull(one.withdrawnAt),
    cease_by: isoOrNull(one.ceaseBy),
    verify_url: verifyUrlOf(verifyBase, one.id),
  })),
  has_more: found.hasMore,
});

export const ownWithdrawalSchema = z
  .discriminatedUnion("scope", [
    z.object({ scope: z.literal("certificate"), cert_id: z.string().max(100) }),
    z.object({ scope: z.literal("business"), business_id: z.string().max(100) }),
    z.object({ scope: z.literal("everything") }),
  ])
  .openapi("WithdrawalFromAccount");

export const ownWithdrawnSchema = z
  .object({
    withdrawn: z.int().openapi({ description: "Certificates that are withdrawn by now." }),
    pending: z.boolean().openapi({ description: "There are more; they follow within minutes." }),
    withdrawn_at: timeOf("The moment of your withdrawal, which each of them bears"),
    cert_id: z.string().nullable().openapi({ description: "With scope `certificate`." }),
    cease_by: timeOf("When contact must have ended; with scope `certificate`").nullable(),
  })
  .openapi("WithdrawnFromAccount");

export const withdrawnOneToWire = ({ certId, withdrawnAt, ceaseBy }: WithdrawnOne): z.input<typeof ownWithdrawnSchema> => ({
  withdrawn: 1,
  pending: false,
  withdrawn_at: isoOf(withdrawnAt),
  cert_id: certId,
  cease_by: isoOf(ceaseBy),
});

export const withdrawnManyToWire = ({ withdrawn, isPending, withdrawnAt }: WithdrawnMany): z.input<typeof ownWithdrawnSchema> => ({
  withdrawn,
  pending: isPending,
  withdrawn_at: isoOf(withdrawnAt),
  cert_id: null,
  cease_by: null,
});
