// The wire of asking before contact: is this certificate about this person, and may this person still be contacted?
import { z } from "@hono/zod-openapi";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { certIdOf } from "../../../core/ids.ts";
import { isoOf, isoOrNull } from "../../../core/time.ts";
import { checkContact, matchSubject, type AskedSubject } from "../../operations/contact.ts";
import { readJsonBody } from "../../http/body.ts";
import type { Api } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { apiKey, limited } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { createRoute, mount } from "../../http/openapi.ts";
import { exampleCertId } from "../certificates/examples.ts";
import { contactExample, matchExample } from "../withdrawals/examples.ts";
import { contactCheckSchema, contactResultsSchema, matchedSchema, matchSchema } from "../withdrawals/schema.ts";
import { envelope, enveloped, failures, idempotencyHeaders, repeatHeaders, schemaFault } from "../../http/wire.ts";
import { setHeaders } from "./headers.ts";

const keyRefusals = ["unauthorized", "business_suspended", "business_inactive", "rate_limited", "storage_unavailable"] as const;
const bodyRefusals = ["invalid_request", "payload_too_large", "unsupported_media_type"] as const;
const badBody = { invalid_request: "The message names the input and the rule." } as const;

const matchRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/match",
  operationId: "matchSubject",
  tags: ["contact"],
  summary: "Is this certificate about this person?",
  description:
    "For the business that issued it, and for a recipient named on it that has verified a domain. Answers yes or no for what you already know, never what is on the certificate. At most 60 a minute for a key and 20 wrong guesses a day for a certificate; each call is noted in the certificate's view trail.",
  security: [{ apiKey: [] }],
  request: {
    params: z.object({ cert_id: z.string().openapi({ description: "Id of the certificate, prefix `cc_`.", example: exampleCertId }) }),
    headers: idempotencyHeaders,
    body: { required: true, content: { "application/json": { schema: matchSchema, example: { email: "pat@example.com" } } } },
  },
  responses: {
    200: {
      description: "The comparison.",
      headers: repeatHeaders,
      content: { "application/json": { schema: envelope("MatchAnswer", matchedSchema), example: enveloped(matchExample) } },
    },
    ...failures([...bodyRefusals, "cert_not_found", "idempotency_conflict", ...keyRefusals], {
      ...badBody,
      cert_not_found: "There is no such certificate, or it neither is yours nor names you.",
      rate_limited: "More than 60 a minute, or 20 wrong guesses at this certificate today.",
    }),
  },
});

const contactRoute = createRoute({
  method: "post",
  path: "/v1/contact-check",
  operationId: "checkContact",
  tags: ["contact"],
  summary: "May these people still be contacted?",
  description:
    "From your own records, as they stand at this moment: a withdrawal counts at once. Ask before each campaign or call, without an idempotency key or with a new one: a repeat answers as things stood at `checked_at`. One call counts once against the limit of the key, however many subjects it has.",
  security: [{ apiKey: [] }],
  request: {
    headers: idempotencyHeaders,
    body: {
      required: true,
      content: { "application/json": { schema: contactCheckSchema, example: { subjects: [{ email: "pat@example.com" }] } } },
    },
  },
  responses: {
    200: {
      description: "One result a subject, in their order.",
      headers: repeatHeaders,
      content: { "application/json": { schema: envelope("ContactAnswer", contactResultsSchema), example: enveloped(contactExample) } },
    },
    ...failures([...bodyRefusals, "idempotency_conflict", ...keyRefusals], badBody),
  },
});

type AskedOnWire = {
  readonly [name in "email" | "email_sha256" | "phone" | "phone_sha256"]?: string | null | undefined;
};
const asked = (subject: AskedOnWire): AskedSubject => ({
  email: subject.email ?? null,
  emailSha256: subject.email_sha256 ?? null,
  phone: subject.phone ?? null,
  phoneSha256: subject.phone_sha256 ?? null,
});

const limitMatches: MiddlewareHandler<Api> = async (c, next) => {
  const { services, principal } = c.var;
  if (principal === undefined) return failure(c, "unauthorized");
  const refused = limited(c, "MATCH_PER_KEY", await services.takeExactly("MATCH_PER_KEY", principal.keyHash));
  if (refused !== null) return refused;
  await next();
};

const untilTomorrow = (now: number): number => 86_400 - (Math.floor(now / 1_000) % 86_400);

const match = async (c: Context<Api>): Promise<Response> => {
  const body = await readJsonBody(c.req.raw, ["application/json"]);
  if (!body.ok) return refusal(c, body);
  const parsed = matchSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  const certId = certIdOf(c.req.param("cert_id") ?? "");
  const { services, principal } = c.var;
  if (certId === null || principal === undefined) return failure(c, "cert_not_found");
  const matched = await matchSubject(services, principal, certId, asked(parsed.data), { ip: c.var.ip });
  if (!matched.ok) {
    if (matched.code === "rate_limited") setHeaders(c, { "Retry-After": String(untilTomorrow(services.clock())) });
    return refusal(c, matched);
  }
  const { status, email, phone, entityNamed, oneToOne } = matched.value;
  return success(c, 200, { status, email, phone, entity_named: entityNamed, one_to_one: oneToOne });
};

const check = async (c: Context<Api>): Promise<Response> => {
  const body = await readJsonBody(c.req.raw, ["application/json"]);
  if (!body.ok) return refusal(c, body);
  const parsed = contactCheckSchema.safeParse(body.value);
  if (!parsed.success) return failure(c, "invalid_request", schemaFault(parsed.error));
  if (c.var.principal === undefined) return failure(c, "unauthorized");
  const { subjects, entity, purpose } = parsed.data;
  const results = await checkContact(c.var.services, c.var.principal, {
    subjects: subjects.map(asked),
    entity: entity ?? null,
    purpose: purpose ?? null,
  });
  return success(c, 200, {
    results: results.map(({ contactable, reason, basis, checkedAt }) => ({
      contactable,
      reason,
      basis: basis.map(({ certId, status, ceaseBy }) => ({ type: "cert", id: certId, status, cease_by: isoOrNull(ceaseBy) })),
      checked_at: isoOf(checkedAt),
    })),
  });
};

export const mountContact = (app: Hono<Api>): void => {
  mount(app, matchRoute, apiKey, limitMatches, idempotent, match);
  mount(app, contactRoute, apiKey, idempotent, check);
};
