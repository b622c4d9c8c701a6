// The routes of asking before contact: is this certificate about this person, and may this person still be contacted?
import { secondsUntilTomorrow } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import type { KeyCaller } from "../../http/context.ts";
import { answer, success } from "../../http/envelope.ts";
import { behindApiKey, limitExactly } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { checkContact } from "../../operations/contact/check-contact.ts";
import { matchSubject } from "../../operations/contact/match-subject.ts";
import { certParams } from "../certificates/schema.ts";
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

const createRoute = routesOf("contact");

const limitMatches = limitExactly<KeyCaller>(
  "MATCH_PER_KEY",
  ({ principal }) => principal.keyHash,
  "More than 60 a minute, or 20 wrong guesses at this certificate today.",
);

const matchRoute = createRoute({
  method: "post",
  path: "/v1/certs/{cert_id}/match",
  operationId: "matchSubject",
  summary: "Is this certificate about this person?",
  description:
    "For the business that issued it, and for a recipient named on it that has verified a domain. Answers yes or no for what you already know, never what is on the certificate. At most 60 a minute for a key and 20 wrong guesses a day for a certificate; each call is noted in the certificate's view trail.",
  middleware: behindApiKey(limitMatches, jsonBody, idempotent),
  request: { params: certParams, body: bodyOf(matchSchema, { email: "pat@example.com" }) },
  responses: { 200: answerOf("The comparison.", "MatchAnswer", matchedSchema, matchExample) },
  when: { cert_not_found: "There is no such certificate, or it neither is yours nor names you." },
});

const contactRoute = createRoute({
  method: "post",
  path: "/v1/contact-check",
  operationId: "checkContact",
  summary: "May these people still be contacted?",
  description:
    "From your own records, as they stand at this moment: a withdrawal counts at once. Ask before each campaign or call, without an idempotency key or with a new one: a repeat answers as things stood at `checked_at`. One call counts once against the limit of the key, however many subjects it has.",
  middleware: behindApiKey(jsonBody, idempotent),
  request: { body: bodyOf(contactCheckSchema, { subjects: [{ email: "pat@example.com" }] }) },
  responses: { 200: answerOf("One result a subject, in their order.", "ContactAnswer", contactResultsSchema, contactExample) },
});

export const contact = newApi();

contact.openapi(matchRoute, async (c) => {
  const { services, principal, ip } = c.var;
  const matched = await matchSubject(services, principal, c.req.valid("param").cert_id, subjectFromWire(c.req.valid("json")), { ip });
  // A day's misses are used up until the next begins, in UTC.
  if (!matched.ok && matched.code === "rate_limited") c.header("Retry-After", String(secondsUntilTomorrow(services.clock())));
  return answer(c, 200, matched, matchedToWire);
});

contact.openapi(contactRoute, async (c) => {
  const contacts = await checkContact(c.var.services, c.var.principal, questionFromWire(c.req.valid("json")));
  return success(c, 200, contactsToWire(contacts));
});
