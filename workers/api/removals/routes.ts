// The routes of removals: a person on the plan that includes them lets us ask others to delete them.
import { z } from "@hono/zod-openapi";
import { affidavitStatement } from "../../../core/removals/affidavit.ts";
import { removalTargetNames, removalTargets, type Removal } from "../../../core/removals/removal.ts";
import { jsonBody } from "../../http/body.ts";
import type { ConsumerCaller } from "../../http/context.ts";
import { answer, refusal, success } from "../../http/envelope.ts";
import { limitExactly } from "../../http/guards.ts";
import { idempotent, keeping } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindConsumer } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { listRemovals, readAffidavit, requestRemoval } from "../../operations/consumers/removals.ts";
import { pageLanguage } from "../../pages/shared/language.ts";
import type { Services } from "../../services.ts";
import { removalExample, removalsExample } from "./examples.ts";
import { removalParam, removalRequestSchema, removalSchema, removalsSchema, removalToWire } from "./schema.ts";

const createRoute = routesOf("account");

const limitRemovals = limitExactly<ConsumerCaller>(
  "REMOVALS",
  ({ person }) => person.id,
  "More than 30 requests a day, or 120 calls a minute.",
);

const requestRoute = createRoute({
  method: "post",
  path: "/v1/me/removals",
  operationId: "requestRemoval",
  summary: "Have others asked to remove you",
  description:
    "We ask data brokers of a fixed list, in your name, to delete what they hold about you. Part of the plan `white_glove`. At most thirty requests a day.",
  middleware: behindConsumer(limitRemovals, jsonBody, idempotent),
  request: { body: bodyOf(removalRequestSchema, { targets: ["spokeo"], authorize: true }) },
  responses: { 201: answerOf("Asked for.", "RemovalAnswer", removalSchema, removalExample) },
  when: { plan_required: "The account is on the free plan." },
});

const listRoute = createRoute({
  method: "get",
  path: "/v1/me/removals",
  operationId: "listRemovals",
  summary: "List your removal requests",
  description: "The newest first, with what came of asking each.",
  middleware: behindConsumer(),
  responses: { 200: answerOf("The requests.", "RemovalsAnswer", removalsSchema, removalsExample) },
});

const affidavitRoute = createRoute({
  method: "get",
  path: "/v1/me/removals/{removal_id}/affidavit",
  operationId: "readAffidavit",
  summary: "Download the affidavit of a removal",
  description:
    "A PDF that says whom we asked in your name and what came of it. The same bytes every time: their SHA-256 is in the removal, signed, and in your audit chain.",
  middleware: behindConsumer(),
  request: { params: removalParam },
  responses: {
    200: {
      description: "The file, as an attachment.",
      content: { "application/pdf": { schema: z.string().openapi({ format: "binary" }) } },
    },
  },
  refuses: ["affidavit_not_ready"],
  when: { not_found: "There is no such removal of yours." },
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
  return answer(c, 201, await requestRemoval(services, person, request, keeping(c, 201, toWire)), toWire);
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
