// The integration helper (SPEC, Integration helper; CONTRACT 10): a page of the business in, a script tag for its form out.
import { z } from "@hono/zod-openapi";
import type { Integration } from "../../../core/integration/integration.ts";
import { jsonBody } from "../../http/body.ts";
import { answer, refusal } from "../../http/envelope.ts";
import { overflowing } from "../../http/guards.ts";
import { idempotent } from "../../http/idempotency.ts";
import { newApi, routesOf } from "../../http/openapi.ts";
import { behindPortal } from "../../http/session-guards.ts";
import { answerOf, bodyOf } from "../../http/wire.ts";
import { mapPage, planIntegration } from "../../operations/integration/map-page.ts";

const mode = z.enum(["share", "consent"]);

const requestSchema = z
  .object({
    url: z.string().openapi({
      description: "Address of the page, on one of the business's verified domains.",
      example: "https://www.example.com/quote",
    }),
    mode: mode.openapi({ description: "What the form is to do: certify consent, or ask for a share." }),
    purpose: z.string().openapi({ description: "Stated purpose, 1 to 500 characters.", example: "solar quote follow-up" }),
    entities: z.array(z.string()).openapi({
      description: "Recipients, at least one in mode `consent`. A name holds no vertical bar.",
      example: ["Acme Solar LLC", "Bright Homes Inc"],
    }),
  })
  .openapi("IntegrationRequest");

const selectorOrNull = z.string().nullable();

const integrationSchema = z
  .object({
    mode,
    page_url: z.string(),
    form_selector: selectorOrNull.openapi({ description: "Null where no selector is sure to find the form." }),
    checkbox_selector: selectorOrNull,
    disclosure_selector: selectorOrNull,
    disclosure_text: z.string().nullable().openapi({ description: "As it stands in the page's source." }),
    field_map: z.record(z.string(), z.string()).openapi({ description: "CSS selector to field key." }),
    entity_checkboxes: z.array(z.object({ selector: z.string(), entity: z.string() })),
    unmapped: z.array(z.string()).openapi({ description: "Selectors of fields that were not recognised and will not be collected." }),
    warnings: z.array(z.string()),
    confidence: z.number().min(0).max(1),
    source: z.enum(["ai", "heuristic"]).openapi({ description: "`ai` where a model added something to what the form itself says." }),
    snippet: z.string().openapi({ description: "The script tag, ready to paste." }),
  })
  .openapi("Integration");

const integrationToWire = (integration: Integration): z.infer<typeof integrationSchema> => ({
  mode: integration.mode,
  page_url: integration.pageUrl,
  form_selector: integration.formSelector,
  checkbox_selector: integration.checkboxSelector,
  disclosure_selector: integration.disclosureSelector,
  disclosure_text: integration.disclosureText,
  field_map: Object.fromEntries(integration.fieldMap),
  entity_checkboxes: integration.entityCheckboxes.map(({ selector, entity }) => ({ selector, entity })),
  unmapped: [...integration.unmapped],
  warnings: [...integration.warnings],
  confidence: integration.confidence,
  source: integration.source,
  snippet: integration.snippet,
});

const requestExample = {
  url: "https://www.example.com/quote",
  mode: "consent",
  purpose: "solar quote follow-up",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
};

const integrationExample = {
  mode: "consent",
  page_url: "https://www.example.com/quote",
  form_selector: "#estimate",
  checkbox_selector: "#agree",
  disclosure_selector: "#disclosure",
  disclosure_text: "I agree that Acme Solar LLC and Bright Homes Inc may call me about solar quotes.",
  field_map: { "#email": "email", "#phone": "phone" },
  entity_checkboxes: [],
  unmapped: ["#best-time"],
  warnings: [],
  confidence: 0.97,
  source: "heuristic",
  snippet: `<script async src="https://cdn.example.com/v1/svc.js"
  data-client-id="pc_live_00k3v9d2m4q8x1c7b5n0t6w2h9"
  data-mode="consent"
  data-purpose="solar quote follow-up"
  data-entities="Acme Solar LLC|Bright Homes Inc"
  data-form-selector="#estimate"
  data-checkbox-selector="#agree"
  data-disclosure-selector="#disclosure"
  data-field-map="{&quot;#email&quot;:&quot;email&quot;,&quot;#phone&quot;:&quot;phone&quot;}"></script>`,
};

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
