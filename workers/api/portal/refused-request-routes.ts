// What became of a request, by the id in its answer: of those that were refused, for a week.
import { z } from "@hono/zod-openapi";
import { refusals } from "../../../core/refusals.ts";
import { parseRequestId } from "../../../core/ids.ts";
import { toIso } from "../../../core/time.ts";
import { respond } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { successResponse, idParamSchema, timeSchema } from "../../http/wire.ts";
import type { RefusedRequest } from "../../../storage/refused-requests.ts";
import { getRefusedRequest } from "../../operations/portal/get-refused-request.ts";

const exampleRequestId = "req_00k3v9d2m4q8x1c7b5n0t6w2h9";

const refusedRequestSchema = z
  .object({
    request_id: z.string(),
    at: timeSchema,
    method: z.string(),
    route: z.string().openapi({ description: "The address with its ids left out." }),
    status: z.int(),
    code: z.string(),
    message: z.string().openapi({ description: "What the code says. The answer itself may have named an input." }),
    origin_host: z.string().nullable().openapi({ description: "Host of the page that sent it, as the browser said." }),
    page_host: z.string().nullable().openapi({ description: "Host of the page it named." }),
    client_id: z.string().nullable(),
    key_id: z.string().nullable().openapi({ description: "The API key it came with." }),
  })
  .openapi("RefusedRequest");

const refusedRequestToWire = (id: string, request: RefusedRequest): z.input<typeof refusedRequestSchema> => ({
  request_id: id,
  at: toIso(request.at),
  method: request.method,
  route: request.route,
  status: request.status,
  code: request.code,
  message: refusals[request.code],
  origin_host: request.originHost,
  page_host: request.pageHost,
  client_id: request.clientId,
  key_id: request.keyId,
});

const createRoute = createRouteFactory("portal");

const getRefusedRequestRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/requests/{request_id}",
  operationId: "readRefusedRequest",
  summary: "Look up a refused request",
  description:
    "Why a request of yours was refused, by the `request_id` of its answer: codes, hosts and ids, nothing that was sent. Kept 7 days, at most 10,000 in them; requests over a limit are not kept. What succeeded is found by what it made.",
  middleware: portalGuard(),
  request: { params: z.object({ request_id: idParamSchema(parseRequestId, "Prefix `req_`.", exampleRequestId) }) },
  responses: {
    200: successResponse("The request.", "RefusedRequestAnswer", refusedRequestSchema, {
      request_id: exampleRequestId,
      at: "2026-03-05T09:12:00.250Z",
      method: "POST",
      route: "/v1/consent",
      status: 403,
      code: "page_url_not_verified",
      message: refusals.page_url_not_verified,
      origin_host: "www.acme-solar.example",
      page_host: "shop.example",
      client_id: "pc_live_00k3v9d2m4q8x1c7b5n0t6w2h9",
      key_id: null,
    }),
  },
  when: { not_found: "No refused request of yours of the last 7 days has this id." },
});

export const refusedRequestRoutes = createApi();

refusedRequestRoutes.openapi(getRefusedRequestRoute, async (c) => {
  const { request_id: id } = c.req.valid("param");
  return respond(c, 200, await getRefusedRequest(c.var.services, c.var.member, id), (request) => refusedRequestToWire(id, request));
});
