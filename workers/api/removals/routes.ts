// The routes of removals: a person on the plan that includes them lets us ask others to delete them.
import { createMiddleware } from "hono/factory";
import { z } from "@hono/zod-openapi";
import { affidavitStatement } from "../../../core/removals/affidavit.ts";
import { removalTargetNames, removalTargets, type Removal } from "../../../core/removals/removal.ts";
import { jsonBody } from "../../http/body.ts";
import type { ConsumerCaller } from "../../http/context.ts";
import { refusal, success } from "../../http/envelope.ts";
import { limited } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindConsumer } from "../../http/session-guards.ts";
import {
  answerOf,
  bodyOf,
  changeRefusals,
  failures,
  idempotencyHeaders,
  onlyPeople,
  rateHeaders,
  repeatHeaders,
  sessionRefusals,
} from "../../http/wire.ts";
import { listRemovals, readAffidavit, requestRemoval } from "../../operations/consumers/removals.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import type { Services } from "../../services.ts";
import { removalExample, removalsExample } from "./examples.ts";
import { removalParam, removalRequestSchema, removalSchema, removalsSchema, removalToWire } from "./schema.ts";

const session = [{ session: [] }];

const limitRemovals = createMiddleware<ConsumerCaller>(async (c, next) => {
  const refused = limited(c, "REMOVALS", await c.var.services.takeExactly("REMOVALS", c.var.person.id));
  if (refused !== null) return refused;
  await next();
});

const requestRoute = createRoute({
  method: "post",
  path: "/v1/me/removals",
  operationId: "requestRemoval",
  tags: ["account"],
  summary: "Have others asked to remove you",
  description:
    "We ask data brokers of a fixed list, in your name, to delete what they hold about you. Part of the plan `white_glove`. At most thirty requests a day.",
  security: session,
  middleware: behindConsumer(limitRemovals, jsonBody, idempotent),
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(removalRequestSchema, { targets: ["spokeo"], authorize: true }),
  },
  responses: {
    201: {
      description: "Asked for.",
      headers: repeatHeaders,
      content: answerOf("RemovalAnswer", removalSchema, removalExample),
    },
    ...failures([...changeRefusals, "plan_required", "idempotency_conflict"], {
      ...onlyPeople,
      plan_required: "The account is on the free plan.",
    }),
  },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/me/removals",
  operationId: "listRemovals",
  tags: ["account"],
  summary: "List your removal requests",
  description: "The newest first, with what came of asking each.",
  security: session,
  middleware: behindConsumer(),
  responses: {
    200: {
      description: "The requests.",
      headers: rateHeaders,
      content: answerOf("RemovalsAnswer", removalsSchema, removalsExample),
    },
    ...failures(sessionRefusals, onlyPeople),
  },
});

const affidavitRoute = createRoute({
  method: "get",
  path: "/v1/me/removals/{removal_id}/affidavit",
  operationId: "readAffidavit",
  tags: ["account"],
  summary: "Download the affidavit of a removal",
  description:
    "A PDF that says whom we asked in your name and what came of it. The same bytes every time: their SHA-256 is in the removal, signed, and in your audit chain.",
  security: session,
  middleware: behindConsumer(),
  request: { params: removalParam },
  responses: {
    200: {
      description: "The file, as an attachment.",
      headers: rateHeaders,
      content: { "application/pdf": { schema: z.string().openapi({ format: "binary" }) } },
    },
    ...failures([...sessionRefusals, "not_found", "affidavit_not_ready"], {
      ...onlyPeople,
      not_found: "There is no such removal of yours.",
    }),
  },
});

/** What a removal's answer needs besides the removal. */
export const removalView = (services: Pick<Services, "config">, removal: Removal) =>
  removalToWire(removal, { apiBase: services.config.baseUrl, statement: (sha256) => affidavitStatement(removal, sha256) });

export const removals = newApi();

removals.openapi(requestRoute, async (c) => {
  const { services, person, requestId } = c.var;
  const { targets, notes } = c.req.valid("json");
  const language = pageLanguage(undefined, c.req.header("accept-language"));
  const request = { targets: targets ?? null, notes: notes ?? null, language, requestId };
  const toWire = (removal: Removal) => removalView(services, removal);
  const requested = await requestRemoval(services, person, request, keeping(c, 201, toWire));
  return requested.ok ? success(c, 201, toWire(requested.value)) : refusal(c, requested);
});

removals.openapi(listRoute, async (c) => {
  const { services, person } = c.var;
  const found = await listRemovals(services, person);
  return success(c, 200, {
    removals: found.map((removal) => removalView(services, removal)),
    targets: removalTargetNames.map((name) => ({ name, title: removalTargets[name] })),
  });
});

removals.openapi(affidavitRoute, async (c) => {
  const { removal_id: id } = c.req.valid("param");
  const file = await readAffidavit(c.var.services, c.var.person, id);
  if (!file.ok) return refusal(c, file);
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
});
