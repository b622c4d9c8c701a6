// The integration helper (SPEC, Integration helper; CONTRACT 10): a page of the business in, a script tag for its form out.
import { jsonBody } from "../../http/body.ts";
import { answer, refusal } from "../../http/envelope.ts";
import { overflowing } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { mapPage, planIntegration } from "../../operations/integration/map-page.ts";
import { integrationExample, integrationSchema, integrationToWire, requestExample, requestSchema } from "./schema.ts";

const createRoute = routesOf("integration");

const integrateRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/integrate",
  operationId: "integratePage",
  middleware: behindPortal(jsonBody, idempotent),
  summary: "Write the script tag for a form",
  description:
    "Fetches a page on a verified domain of the business as every visitor does, maps the fields of its form, and answers with the script tag to paste. The same page gives the same answer. At most ten an hour and business; what is refused before anything is fetched does not count.",
  request: { body: bodyOf(requestSchema, requestExample) },
  responses: { 200: answerOf("The mapping and the script tag.", "IntegrationAnswer", integrationSchema, integrationExample) },
  refuses: ["page_unreachable"],
  when: {
    invalid_request: "The message names the input and the rule; or the page holds no form.",
    page_url_not_verified: "The host of `url` is not on a verified domain of the business.",
    rate_limited: "More than ten an hour for the business, or 120 requests a minute by one person.",
  },
});

export const integration = newApi();

integration.openapi(integrateRoute, async (c) => {
  const { services, member } = c.var;
  const plan = await planIntegration(services, member, c.req.valid("json"));
  if (!plan.ok) return refusal(c, plan);
  if (plan.value.isFetchable) {
    const refused = overflowing(c, "INTEGRATE", await services.takeExactly("INTEGRATE", member.business.id)); // as on a repeat, an answer tells the person's limit
    if (refused !== null) return refused;
  }
  return answer(c, 200, await mapPage(services, plan.value), integrationToWire);
});
