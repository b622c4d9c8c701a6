// The parameters of a share request, for the API and the consent sheet (SPEC Share).
import { z } from "@hono/zod-openapi";
import { parseClientId } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import { parseRequestedScope, contactKeys, fieldGroupNames, type RequestedScope } from "../../core/shares/fields.ts";
import { defaultDurationDays, maxDurationDays } from "../../core/shares/grant.ts";
import { isCodeChallenge } from "../../core/shares/pkce.ts";
import type { ShareRequest } from "../operations/shares/authorize-share-request.ts";

export const challengeSchema = z.string().refine(isCodeChallenge, "must be the 43 characters of an S256 challenge").meta({
  description: "PKCE challenge (RFC 7636): base64url SHA-256 of the verifier, 43 characters.",
  example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
});
export const challengeMethodSchema = z.literal("S256").meta({ description: "The only supported method.", example: "S256" });
export const stateSchema = z.string().max(512).meta({ description: "Opaque value, returned unchanged." });
export const clientIdSchema = z
  .string()
  .max(64)
  .meta({ description: "The business's public client ID.", example: "pc_live_00f7m2k9x4c1v8b5n3q6t0w2h7" });
export const originSchema = z
  .string()
  .max(300)
  .meta({ description: "Scheme, host and port of the requesting page.", example: "https://acme-solar.example" });
export const purposeSchema = z
  .string()
  .min(1)
  .max(500)
  .meta({ description: "Why you need the fields, in one line. The person sees it.", example: "Send you a solar estimate" });
export const disclosureSchema = z
  .string()
  .max(20_000)
  .meta({ description: "Your disclosure. The person sees it in full, and the fingerprint includes its hash." });

const durationRule = `must be a whole number from 1 to ${maxDurationDays}`;

export const authorizeQuerySchema = z.object({
  client_id: clientIdSchema,
  origin: originSchema,
  scope: z
    .string()
    .min(1)
    .max(500)
    .meta({
      description: `Field keys and groups, separated by spaces or commas. Keys: ${contactKeys.join(", ")}. Groups: ${fieldGroupNames.join(", ")}. Add \`?\` to a key or group to make its fields optional.`,
      example: "email phone?",
    }),
  purpose: purposeSchema,
  code_challenge: challengeSchema,
  code_challenge_method: challengeMethodSchema,
  state: stateSchema.optional(),
  duration_days: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, durationRule)
    .transform(Number)
    .refine((days) => days <= maxDurationDays, durationRule)
    .optional()
    .meta({
      type: "integer",
      minimum: 1,
      maximum: maxDurationDays,
      default: defaultDurationDays,
      description: "Duration in days, each of 24 hours.",
    }),
  disclosure_text: disclosureSchema.optional(),
  locale: z.string().max(35).optional().meta({ description: "Language of `labels`: en, es or fr-CA.", example: "en" }),
  return_url: z.string().max(2_048).optional().meta({
    description: "URL on `origin`. The consent sheet redirects the person to this URL if it cannot reach the window that opened it.",
  }),
  request_signature: z.string().max(100).optional().meta({
    description:
      "Signature from `POST /v1/share/requests`. It proves to the consent sheet that your server made this request. This route ignores it.",
  }),
  display: z.enum(["popup", "page"]).optional().meta({ description: "How you open the consent sheet. This route ignores it." }),
});

/** The request that this service signs for a business's server. Contains the parameters of the consent sheet. */
export const shareRequestSchema = z
  .object({
    client_id: clientIdSchema,
    origin: originSchema,
    scope: authorizeQuerySchema.shape.scope,
    purpose: purposeSchema,
    code_challenge: challengeSchema,
    code_challenge_method: challengeMethodSchema,
    state: stateSchema.nullish(),
    duration_days: z
      .number()
      .int()
      .min(1)
      .max(maxDurationDays)
      .nullish()
      .meta({ description: "Duration in days, each of 24 hours. Default: 365." }),
    disclosure_text: disclosureSchema.nullish(),
    return_url: z.string().max(2_048).nullish().meta({
      description: "URL on `origin` to which the consent sheet returns with `svc_code` or `svc_error`, and `svc_state`.",
    }),
  })
  .openapi("ShareRequest");

export type AuthorizeQuery = z.output<typeof authorizeQuerySchema>;

export const parseScope = (text: string): Result<RequestedScope, "invalid_request"> =>
  parseRequestedScope(text.split(/[\s,]+/).filter((key) => key !== ""));

export const toShareRequest = (
  query: AuthorizeQuery | z.output<typeof shareRequestSchema>,
  requestedScope: RequestedScope,
): ShareRequest => ({
  clientId: parseClientId(query.client_id),
  origin: query.origin,
  requestedScope,
  purpose: query.purpose,
  disclosureText: query.disclosure_text ?? null,
  durationDays: query.duration_days ?? defaultDurationDays,
  challenge: query.code_challenge,
  state: query.state ?? null,
});
