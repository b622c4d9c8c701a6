// Routes with which a business links a recipient name on its certificates to the recipient's own account. The recipient can then call
// `match` for the business's certificates that contain the name.
import { z } from "@hono/zod-openapi";
import { maxEntityLength } from "../../../core/certificates/recipients.ts";
import { parseBusinessId } from "../../../core/ids.ts";
import type { LinkedRecipient } from "../../../storage/linked-recipients.ts";
import { jsonBody } from "../../http/body.ts";
import { respond, success } from "../../http/envelope.ts";
import { portalGuard, requireOwner } from "../../http/guards/portal.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { idSchema, requestBody, successResponse, timeSchema, toWire } from "../../http/wire.ts";
import { linkRecipient } from "../../operations/portal/link-recipient.ts";
import { listLinkedRecipients } from "../../operations/portal/list-linked-recipients.ts";
import { unlinkRecipient } from "../../operations/portal/unlink-recipient.ts";

const example = {
  entity: "Bright Homes Inc",
  business_id: "biz_00m4x8c1v6b3n9q2t7w0h5k3d8",
  created_at: "2026-03-04T05:06:07.089Z",
};

const entitySchema = z
  .string()
  .max(maxEntityLength)
  .meta({ description: "The recipient's name, spelled as on your certificates.", example: example.entity });

const recipientRequestSchema = z
  .object({
    entity: entitySchema,
    business_id: idSchema(parseBusinessId, "must be the ID of a business").meta({
      type: "string",
      description: "ID of the recipient's account. Starts with `biz_`.",
      example: example.business_id,
    }),
  })
  .openapi("RecipientLink");

const recipientSchema = z.object({ entity: z.string(), business_id: z.string(), created_at: timeSchema }).openapi("LinkedRecipient");

const recipientToWire = (linked: LinkedRecipient) => toWire(recipientSchema, { ...linked, businessId: linked.recipientId });

const requestExample = { entity: example.entity, business_id: example.business_id };

const createRoute = createRouteFactory("portal");

const linkRecipientRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/recipients",
  operationId: "linkRecipient",
  summary: "Link a recipient",
  description:
    "Owners only. Confirms that the recipient `entity` on your certificates is the business `business_id`. That business can then call `POST /v1/certs/{cert_id}/match` for these certificates. Only you can confirm this, because anyone can choose a recipient's name for their business. Linking the same pair again changes nothing. The link is recorded in your audit trail.",
  middleware: portalGuard(requireOwner, jsonBody, idempotencyGuard),
  request: { body: requestBody(recipientRequestSchema, requestExample) },
  responses: { 201: successResponse("The recipient was linked.", "LinkedRecipientResponse", recipientSchema, example) },
  refuses: ["recipient_limit"],
  when: {
    invalid_request: "`entity` is not a valid name, or `business_id` is your own business.",
    not_found: "The business does not exist.",
  },
});

const listRecipientsRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/recipients",
  operationId: "listLinkedRecipients",
  summary: "List your linked recipients",
  description: "Owners only. Returns the recipients that you have linked, sorted by name.",
  middleware: portalGuard(requireOwner),
  responses: {
    200: successResponse("Your linked recipients.", "LinkedRecipientsResponse", z.object({ recipients: z.array(recipientSchema) }), {
      recipients: [example],
    }),
  },
});

const unlinkRecipientRoute = createRoute({
  method: "delete",
  path: "/v1/business/portal/recipients",
  operationId: "unlinkRecipient",
  summary: "Unlink a recipient",
  description:
    "Owners only. The linked business can no longer call `POST /v1/certs/{cert_id}/match` as this recipient. This is recorded in your audit trail.",
  middleware: portalGuard(requireOwner, jsonBody),
  request: { body: requestBody(recipientRequestSchema, requestExample) },
  responses: {
    200: successResponse("The removed link.", "UnlinkedRecipientResponse", recipientSchema, example),
  },
  when: { not_found: "You have not linked this business under this name." },
});

export const recipientRoutes = createApi();

recipientRoutes.openapi(linkRecipientRoute, async (c) => {
  const { entity, business_id: recipientId } = c.req.valid("json");
  return respond(c, 201, await linkRecipient(c.var.services, c.var.member, { entity, recipientId }), recipientToWire);
});

recipientRoutes.openapi(listRecipientsRoute, async (c) =>
  success(c, 200, { recipients: (await listLinkedRecipients(c.var.services, c.var.member)).map(recipientToWire) }),
);

recipientRoutes.openapi(unlinkRecipientRoute, async (c) => {
  const { entity, business_id: recipientId } = c.req.valid("json");
  return respond(c, 200, await unlinkRecipient(c.var.services, c.var.member, { entity, recipientId }), recipientToWire);
});
