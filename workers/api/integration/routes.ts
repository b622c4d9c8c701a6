// The integration helper (SPEC, Integration helper; CONTRACT 10): a page of the business in, a script tag for its form out.
import { jsonBody } from "../../http/body.ts";
import { refusal, success } from "../../http/envelope.ts";
import { appOrigin, limited } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { createRoute, newApi } from "../../http/openapi.ts";
import { behindPortal, sameOrigin } from "../../http/session-guards.ts";
import { answerOf, bodyOf, failures, idempotencyHeaders, repeatHeaders } from "../../http/wire.ts";
import { mapPage, planIntegration } from "../../operations/integration/map-page.ts";
import { integrationExample, integrationSchema, integrationToWire, requestExample, requestSchema } from "./schema.ts";

const path = "/v1/business/portal/integrate";

const integrateRoute = createRoute({
  method: "post",
  path,
  operationId: "integratePage",
  middleware: behindPortal(jsonBody, idempotent),
  tags: ["integration"],
  summary: "Write the script tag for a form",
  description:
    "Fetches a page on a verified domain of the business as every visitor does, maps the fields of its form, and answers with the script tag to paste. The same page gives the same answer. At most ten an hour and business; what is refused before anything is fetched does not count.",
  security: [{ session: [] }],
  request: {
    headers: idempotencyHeaders,
    body: bodyOf(requestSchema, requestExample),
  },
  responses: {
    200: {
      description: "The mapping and the script tag.",
      headers: repeatHeaders,
      content: answerOf("IntegrationAnswer", integrationSchema, integrationExample),
    },
    ...failures(
      [
        "invalid_request",
        "unauthorized",
        "business_suspended",
        "business_inactive",
        "subscription_past_due",
        "page_url_not_verified",
        "csrf_failed",
        "forbidden",
        "idempotency_conflict",
        "payload_too_large",
        "unsupported_media_type",
        "rate_limited",
        "page_unreachable",
        "storage_unavailable",
      ],
      {
        invalid_request: "The message names the input and the rule; or the page holds no form.",
        forbidden: "A consumer is signed in, not a member of a business.",
        page_url_not_verified: "The host of `url` is not on a verified domain of the business.",
        rate_limited: "More than ten an hour for the business, or 120 requests a minute by one person.",
      },
    ),
  },
});

export const integration = newApi();

integration.use(path, appOrigin({ methods: ["POST"], headers: ["Content-Type", "Idempotency-Key"] }), sameOrigin);

integration.openapi(integrateRoute, async (c) => {
  const { services, member } = c.var;
  const plan = await planIntegration(services, member, c.req.valid("json"));
  if (!plan.ok) return refusal(c, plan);
  if (plan.value.isFetchable) {
    const state = await services.takeExactly("INTEGRATE", member.business.id);
    const refused = state.allowed ? null : limited(c, "INTEGRATE", state); // the headers of an answer tell the person's limit, as on a repeat
    if (refused !== null) return refused;
  }
  const mapped = await mapPage(services, plan.value);
  return mapped.ok ? success(c, 200, integrationToWire(mapped.value)) : refusal(c, mapped);
});
