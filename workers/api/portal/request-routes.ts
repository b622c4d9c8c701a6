// What became of a request, by the id in its answer: of those that were refused, for a week.
import { z } from "@hono/zod-openapi";
import { refusals } from "../../../core/refusals.ts";
import { requestIdOf } from "../../../core/ids.ts";
import { isoOf } from "../../../core/time.ts";
import { answer } from "../../http/envelope.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal } from "../../http/session-guards.ts";
import { answerOf, idParam, time } from "../../http/wire.ts";
import { findRefused, type RefusedRequest } from "../../operations/portal/refused-requests.ts";

const exampleId = "req_00k3v9d2m4q8x1c7b5n0t6w2h9";

const requestSchema = z
  .object({
    request_id: z.string(),
    at: time,
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

const toWire = (id: string, request: RefusedRequest): z.input<typeof requestSchema> => ({
  request_id: id,
  at: isoOf(request.at),
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

const createRoute = routesOf("portal");

const readRoute = createRoute({
  method: "get",
  path: "/v1/business/portal/requests/{request_id}",
  operationId: "readRefusedRequest",
  summary: "Look up a refused request",
  description:
    "Why a request of yours was refused, by the `request_id` of its answer: codes, hosts and ids, nothing that was sent. Kept 7 days, at most 10,000 in them; requests over a limit are not kept. What succeeded is found by what it made.",
  middleware: behindPortal(),
  request: { params: z.object({ request_id: idParam(requestIdOf, "Prefix `req_`.", exampleId) }) },
  responses: {
    200: answerOf("The request.", "RefusedRequestAnswer", requestSchema, {
      request_id: exampleId,
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

export const requests = newApi();

requests.openapi(readRoute, async (c) => {
  const { request_id: id } = c.req.valid("param");
  return answer(c, 200, await findRefused(c.var.services, c.var.member, id), (request) => toWire(id, request));
});
