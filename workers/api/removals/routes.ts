// Removals: on the `white_glove` plan, a person authorizes us to ask data brokers to delete the person's data.
import { z } from "@hono/zod-openapi";
import { formatAffidavitStatement } from "../../../core/removals/affidavit.ts";
import { removalTargetNames, removalTargets, type Removal, removalStatuses } from "../../../core/removals/removal.ts";
import { parseRemovalId } from "../../../core/ids.ts";
import { once } from "../../../core/once.ts";
import { toIso, toIsoOrNull } from "../../../core/time.ts";
import { jsonBody } from "../../http/body.ts";
import { refusal, success } from "../../http/envelope.ts";
import { limitByAccount } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard, respondAndSave } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { consumerGuard } from "../../http/guards/consumer.ts";
import { successResponse, requestBody, idParamSchema, describedTime } from "../../http/wire.ts";
import { getAffidavit } from "../../operations/consumers/get-affidavit.ts";
import { listRemovals } from "../../operations/consumers/list-removals.ts";
import { requestRemoval } from "../../operations/consumers/request-removal.ts";
import type { Services } from "../../platform/platform.ts";

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

const removalRequestSchema = z
  .object({
    targets: z
      .array(z.string().max(40))
      .min(1)
      .max(50)
      .nullish()
      .meta({ description: `Data brokers to contact. Default: all of them. Values: ${removalTargetNames.join(", ")}.` }),
    authorize: z.literal(true).meta({ description: "Must be `true`, to confirm that you authorize us to act on your behalf." }),
    notes: z
      .string()
      .max(2_000, "must be at most 500 characters")
      .nullish()
      .meta({ description: "Notes for our team, one line of at most 500 characters." }),
  })
  .openapi("RemovalRequest");

/** Returns the schemas that only describe responses. They are created when the OpenAPI document is built. */
export const getRemovalSchemas = once(() => {
  const removalStatusSchema = z.enum(removalStatuses);
  const removalTargetNameSchema = z.enum(removalTargetNames);

  const removalSchema = z
    .object({
      id: z.string(),
      status: removalStatusSchema,
      targets: z.array(
        z.object({
          name: removalTargetNameSchema,
          status: removalStatusSchema,
          completed_at: describedTime("When the broker confirmed the removal").nullable(),
        }),
      ),
      notes: z.string().nullable(),
      requested_at: describedTime("When you requested the removal"),
      completed_at: describedTime(
        "When every broker had completed or refused the removal; `null` until then, or if every broker refused",
      ).nullable(),
      recheck_at: describedTime("When we will check the brokers again; `null` until the removal is complete").nullable(),
      affidavit_url: z.string().nullable().meta({ description: "URL of the affidavit; `null` until the removal is complete." }),
      affidavit: z
        .object({
          sha256: z.string().meta({ description: "Hex SHA-256 of the file." }),
          signed: z.string().meta({ description: "Text that the signature covers." }),
          signature: z.object({ kid: z.string(), alg: z.literal("Ed25519"), value: z.string() }),
        })
        .nullable()
        .meta({ description: "Hash and signature that prove that the affidavit file is genuine. The hash is also in your audit chain." }),
    })
    .openapi("Removal");

  const removalListSchema = z
    .object({
      removals: z.array(removalSchema).meta({ description: "Your removals, newest first, at most 200." }),
      targets: z
        .array(z.object({ name: removalTargetNameSchema, title: z.string() }))
        .meta({ description: "Data brokers you can choose." }),
    })
    .openapi("Removals");

  return { removalSchema, removalListSchema };
});

export const removalToWire = (
  { config }: Pick<Services, "config">,
  removal: Removal,
): z.input<ReturnType<typeof getRemovalSchemas>["removalSchema"]> => {
  const { affidavit } = removal;
  return {
    id: removal.id,
    status: removal.status,
    targets: removal.targets.map(({ name, status, completedAt }) => ({ name, status, completed_at: toIsoOrNull(completedAt) })),
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

const removalIdParamSchema = z.object({
  removal_id: idParamSchema(parseRemovalId, "ID of the removal. Starts with `rmv_`.", removalExample.id),
});

const createRoute = createRouteFactory("account");

const limitRemovals = limitByAccount("REMOVALS", "More than 30 removals per day, or 120 requests per minute.");

const requestRemovalRoute = createRoute({
  method: "post",
  path: "/v1/me/removals",
  operationId: "requestRemoval",
  summary: "Request a removal",
  description: "Authorizes us to ask data brokers to delete your data. Requires the `white_glove` plan. Limit: 30 per day.",
  middleware: consumerGuard(limitRemovals, jsonBody, idempotencyGuard),
  request: { body: requestBody(removalRequestSchema, { targets: ["spokeo"], authorize: true }) },
  responses: {
    201: successResponse("The removal was requested.", "RemovalResponse", () => getRemovalSchemas().removalSchema, removalExample),
  },
  when: { plan_required: "Your plan does not include removals." },
});

const listRemovalsRoute = createRoute({
  method: "get",
  path: "/v1/me/removals",
  operationId: "listRemovals",
  summary: "List your removals",
  description: "Returns your removals, newest first, with the status of each data broker.",
  middleware: consumerGuard(),
  responses: {
    200: successResponse("Your removals.", "RemovalsResponse", () => getRemovalSchemas().removalListSchema, removalListExample),
  },
});

const downloadAffidavitRoute = createRoute({
  method: "get",
  path: "/v1/me/removals/{removal_id}/affidavit",
  operationId: "readAffidavit",
  summary: "Download the affidavit for a removal",
  description:
    "Returns a PDF that lists the data brokers we asked to delete your data, and the results. Every download returns the same file. The removal's `affidavit` contains the file's signed SHA-256, which is also recorded in your audit chain.",
  middleware: consumerGuard(),
  request: { params: removalIdParamSchema },
  responses: {
    200: {
      description: "The PDF file, as an attachment.",
      content: { "application/pdf": { schema: z.string().meta({ format: "binary" }) } },
    },
  },
  refuses: ["affidavit_not_ready"],
  when: { not_found: "The removal does not exist or is not yours." },
});

export const removalRoutes = createApi();

removalRoutes.openapi(requestRemovalRoute, async (c) => {
  const { services, person, requestId, language } = c.var;
  const { targets, notes } = c.req.valid("json");
  const request = { targets: targets ?? null, notes: notes ?? null, language, requestId };
  const toWire = (removal: Removal) => removalToWire(services, removal);
  return respondAndSave(c, 201, toWire, (save) => requestRemoval(services, person, request, save));
});

removalRoutes.openapi(listRemovalsRoute, async (c) => {
  const { services, person } = c.var;
  const removals = await listRemovals(services, person);
  return success(c, 200, {
    removals: removals.map((removal) => removalToWire(services, removal)),
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
