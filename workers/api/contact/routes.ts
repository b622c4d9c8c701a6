// The routes of asking before contact: is this certificate about this person, and may this person still be contacted?
import { createMiddleware } from "hono/factory";
import { certIdOf } from "../../../core/ids.ts";
import { secondsUntilTomorrow } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import type { KeyCaller } from "../../http/context.ts";
import { failure, refusal, success } from "../../http/envelope.ts";
import { behindApiKey, limited } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { answerOf, badBody, bodyOf, bodyRefusals, failures, idempotencyHeaders, keyRefusals, repeatHeaders } from "../../http/wire.ts";
import { checkContact } from "../../operations/contact/check-contact.ts";
import { matchSubject } from "../../operations/contact/match-subject.ts";
import { certParam } from "../withdrawals/schema.ts";
import { contactExample, matchExample } from "./examples.ts";
import {
  contactCheckSchema,
  contactResultsSchema,
  contactsToWire,
  matchedSchema,
  matchedToWire,
  matchSchema,
  questionFromWire,
  subjectFromWire,
} from "./schema.ts";

const limitMatches = createMiddleware<KeyCaller>(async (c, next) => {
  const { services, principal } = c.var;
  const refused = limited(c, "MATCH_PER_KEY", await services.takeExactly("MATCH_PER_KEY", principal.keyHash));
  if (refused !== null) return refused;
  await next();
});

const matchRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/match",
  operationId: "matchSubject",
  tags: ["contact"],
  summary: "Is this certificate about this person?",
  description:
    "For the business that issued it, and for a recipient named on it that has verified a domain. Answers yes or no for what you already know, never what is on the certificate. At most 60 a minute for a key and 20 wrong guesses a day for a certificate; each call is noted in the certificate's view trail.",
  security: [{ apiKey: [] }],
  middleware: behindApiKey(limitMatches, jsonBody, idempotent),
  request: {
    params: certParam,
    headers: idempotencyHeaders,
    body: bodyOf(matchSchema, { email: "pat@example.com" }),
  },
  responses: {
    200: {
      description: "The comparison.",
      headers: repeatHeaders,
      content: answerOf("MatchAnswer", matchedSchema, matchExample),
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
  middleware: behindApiKey(jsonBody, idempotent),
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(contactCheckSchema, { subjects: [{ email: "pat@example.com" }] }),
  },
  responses: {
    200: {
      description: "One result a subject, in their order.",
      headers: repeatHeaders,
      content: answerOf("ContactAnswer", contactResultsSchema, contactExample),
    },
    ...failures([...bodyRefusals, "idempotency_conflict", ...keyRefusals], badBody),
  },
});

/** A day's misses are used up until the next begins, in UTC. */

export const contact = newApi();

contact.openapi(matchRoute, async (c) => {
  const certId = certIdOf(c.req.valid("param").cert_id);
  if (certId === null) return failure(c, "cert_not_found");
  const { services, principal, ip } = c.var;
  const matched = await matchSubject(services, principal, certId, subjectFromWire(c.req.valid("json")), { ip });
  if (matched.ok) return success(c, 200, matchedToWire(matched.value));
  if (matched.code === "rate_limited") c.header("Retry-After", String(secondsUntilTomorrow(services.clock())));
  return refusal(c, matched);
});

contact.openapi(contactRoute, async (c) => {
  const contacts = await checkContact(c.var.services, c.var.principal, questionFromWire(c.req.valid("json")));
  return success(c, 200, contactsToWire(contacts));
});
