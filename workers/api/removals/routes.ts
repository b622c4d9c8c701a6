// The routes of removals: a person on the plan that includes them lets us ask others to delete them.
import { z } from "@hono/zod-openapi";
import { formatAffidavitStatement } from "../../../core/removals/affidavit.ts";
import { removalTargetNames, removalTargets, type Removal, removalStatuses } from "../../../core/removals/removal.ts";
import { parseRemovalId } from "../../../core/ids.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import { respond, refusal, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, saveIdempotentResponse } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { successResponse, requestBody, idParamSchema, describedTime } from "../../http/wire.ts";
import { getAffidavit } from "../../operations/consumers/get-affidavit.ts";
import { listRemovals } from "../../operations/consumers/list-removals.ts";
import { requestRemoval } from "../../operations/consumers/request-removal.ts";
import type { Services } from "../../services.ts";

const exampleTimestamp = "2026-11-20T10:05:00.000Z";
const removalExample = {
  id: "rmv_00k3v9d2m4q8x1c7b5n0t6w2h9",
  status: "requested",
  targets: [{ name: "spokeo", status: "requested", completed_at: null }],
  notes: null,
  requested_at: exampleTimestamp,
  completed_at: null,
  recheck_at: null,
  affidavit_url: null,
  affidavit: null,
};
const removalListExample = { removals: [removalExample], targets: [{ name: "spokeo", title: "Spokeo" }] };

const removalStatusSchema = z.enum(removalStatuses);
const removalTargetNameSchema = z.enum(removalTargetNames);

const removalRequestSchema = z
  .object({
    targets: z
      .array(z.string().max(40))
      .min(1)
      .max(50)
      .nullish()
      .openapi({ description: `Whom to ask; all where it is left out. Of the list: ${removalTargetNames.join(", ")}.` }),
    authorize: z.literal(true).openapi({ description: "Must be true: you authorize us to ask them in your name." }),
    notes: z.string().max(2_000).nullish().openapi({ description: "For the people who do it, in one line of at most 500 characters." }),
  })
  .openapi("RemovalRequest");

export const removalSchema = z
  .object({
    id: z.string(),
    status: removalStatusSchema,
    targets: z.array(
      z.object({
        name: removalTargetNameSchema,
        status: removalStatusSchema,
        completed_at: describedTime("When they removed you").nullable(),
      }),
    ),
    notes: z.string().nullable(),
    requested_at: describedTime("When you asked"),
    completed_at: describedTime("When the last of them had answered").nullable(),
    recheck_at: describedTime("When we look again").nullable(),
    affidavit_url: z.string().nullable().openapi({ description: "The affidavit, once there is one." }),
    affidavit: z
      .object({
        sha256: z.string().openapi({ description: "Of the file, hex." }),
        signed: z.string().openapi({ description: "The text that is signed." }),
        signature: z.object({ kid: z.string(), alg: z.literal("Ed25519"), value: z.string() }),
      })
      .nullable()
      .openapi({ description: "What proves the file: its hash is in your audit chain too." }),
  })
  .openapi("Removal");

export const removalToWire = ({ config }: Pick<Services, "config">, removal: Removal): z.input<typeof removalSchema> => {
  const { affidavit } = removal;
  return {
    id: removal.id,
    status: removal.status,
    targets: removal.targets.map(({ name, status: of, completedAt }) => ({ name, status: of, completed_at: toIsoOrNull(completedAt) })),
    notes: removal.notes,
    requested_at: toIso(removal.requestedAt),
    completed_at: toIsoOrNull(removal.completedAt),
    recheck_at: toIsoOrNull(removal.recheckAt),
    affidavit_url: affidavit && `${config.baseUrl}/me/removals/${removal.id}/affidavit`,
    affidavit: affidavit && {
      sha256: affidavit.sha256,
      signed: formatAffidavitStatement(removal, affidavit.sha256),
      signature: { kid: affidavit.kid, alg: "Ed25519", value: affidavit.signature },
    },
  };
};

const removalListSchema = z
  .object({
    removals: z.array(removalSchema).openapi({ description: "The newest first, at most 200." }),
    targets: z.array(z.object({ name: removalTargetNameSchema, title: z.string() })).openapi({ description: "Who can be asked." }),
  })
  .openapi("Removals");

const removalIdParamSchema = z.object({ removal_id: idParamSchema(parseRemovalId, "Id of the removal: `rmv_…`.", removalExample.id) });

const createRoute = createRouteFactory("account");

const limitRemovals = limitByAccount("REMOVALS", "More than 30 requests a day, or 120 calls a minute.");

const requestRemovalRoute = createRoute({
  method: "post",
  path: "/v1/me/removals",
  operationId: "requestRemoval",
  summary: "Have others asked to remove you",
  description:
    "We ask data brokers of a fixed list, in your name, to delete what they hold about you. Part of the plan `white_glove`. At most thirty requests a day.",
  middleware: consumerGuard(limitRemovals, jsonBody, idempotencyGuard),
  request: { body: requestBody(removalRequestSchema, { targets: ["spokeo"], authorize: true }) },
  responses: { 201: successResponse("Asked for.", "RemovalAnswer", removalSchema, removalExample) },
  when: { plan_required: "The account is on the free plan." },
});

const listRemovalsRoute = createRoute({
  method: "get",
  path: "/v1/me/removals",
  operationId: "listRemovals",
  summary: "List your removal requests",
  description: "The newest first, with what came of asking each.",
  middleware: consumerGuard(),
  responses: { 200: successResponse("The requests.", "RemovalsAnswer", removalListSchema, removalListExample) },
});

const downloadAffidavitRoute = createRoute({
  method: "get",
  path: "/v1/me/removals/{removal_id}/affidavit",
  operationId: "readAffidavit",
  summary: "Download the affidavit of a removal",
  description:
    "A PDF that says whom we asked in your name and what came of it. The same bytes every time: their SHA-256 is in the removal, signed, and in your audit chain.",
  middleware: consumerGuard(),
  request: { params: removalIdParamSchema },
  responses: {
    200: {
      description: "The file, as an attachment.",
      content: { "application/pdf": { schema: z.string().openapi({ format: "binary" }) } },
    },
  },
  refuses: ["affidavit_not_ready"],
  when: { not_found: "There is no such removal of yours." },
});

export const removalRoutes = createApi();

removalRoutes.openapi(requestRemovalRoute, async (c) => {
  const { services, person, requestId, language } = c.var;
  const { targets, notes } = c.req.valid("json");
  const request = { targets: targets ?? null, notes: notes ?? null, language, requestId };
  const toWire = (removal: Removal) => removalToWire(services, removal);
  return respond(c, 201, await requestRemoval(services, person, request, saveIdempotentResponse(c, 201, toWire)), toWire);
});

removalRoutes.openapi(listRemovalsRoute, async (c) => {
  const { services, person } = c.var;
  const found = await listRemovals(services, person);
  return success(c, 200, {
    removals: found.map((removal) => removalToWire(services, removal)),
    targets: removalTargetNames.map((name) => ({ name, title: removalTargets[name] })),
  });
});

removalRoutes.openapi(downloadAffidavitRoute, async (c) => {
  const { removal_id: id } = c.req.valid("param");
  const file = await getAffidavit(c.var.services, c.var.person, id);
  if (!file.ok) return refusal(c, file);
  c.header("Content-Disposition", `attachment; filename="affidavit-${id}.pdf"`);
  return c.body(file.value, 200, { "Content-Type": "application/pdf" });
});
