// Routes to look up refused requests by request ID. Refused requests are kept for seven days.
import { z } from "@hono/zod-openapi";
import { refusals } from "../../../core/refusals.ts";
import { parseRequestId } from "../../../core/ids.ts";
import { respond } from "../../http/envelope.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { exampleRequestId, successResponse, idParamSchema, timeSchema, toWire } from "../../http/wire.ts";
import type { RefusedRequest } from "../../../storage/refused-requests.ts";
import { getRefusedRequest } from "../../operations/portal/get-refused-request.ts";

const refusedRequestSchema = z
  .object({
    request_id: z.string(),
    at: timeSchema,
    method: z.string(),
    route: z.string().meta({ description: "Path with placeholders for IDs." }),
    status: z.int(),
    code: z.string(),
    message: z
      .string()
      .meta({ description: "General message for the error code. The message in the original response can be more specific." }),
    origin_host: z.string().nullable().meta({ description: "Host in the `Origin` header." }),
    page_host: z.string().nullable().meta({ description: "Host of the `page_url` in the request." }),
    client_id: z.string().nullable(),
    key_id: z.string().nullable().meta({ description: "ID of the API key; `null` if the request had none." }),
  })
  .openapi("RefusedRequest");

const refusedRequestToWire = (requestId: string, request: RefusedRequest): z.input<typeof refusedRequestSchema> =>
  toWire(refusedRequestSchema, { ...request, requestId, message: refusals[request.code] });

const createRoute = createRouteFactory("portal");

const getRefusedRequestRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/requests/{request_id}",
  operationId: "readRefusedRequest",
  summary: "Look up a refused request",
  description:
    "Returns why a request was refused: the error code, hosts and IDs, but no other values that you sent. Refused requests are kept for 7 days, at most about 1,400 per day with a credential and 1,400 without. Rate-limited and successful requests are not kept.",
  middleware: portalGuard(),
  request: {
    params: z.object({
      request_id: idParamSchema(parseRequestId, "`request_id` from the response. Starts with `req_`.", exampleRequestId),
    }),
  },
  responses: {
    200: successResponse("The refused request.", "RefusedRequestResponse", refusedRequestSchema, {
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
  when: { not_found: "None of your refused requests from the last 7 days has this ID." },
});

export const refusedRequestRoutes = createApi();

refusedRequestRoutes.openapi(getRefusedRequestRoute, async (c) => {
  const { request_id: id } = c.req.valid("param");
  return respond(c, 200, await getRefusedRequest(c.var.services, c.var.member, id), (request) => refusedRequestToWire(id, request));
});
