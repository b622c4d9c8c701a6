// The integration helper (SPEC, Integration helper; CONTRACT 10): a page of the business in, a script tag for its form out.
import { z } from "@hono/zod-openapi";
import type { Integration } from "../../../core/integration/integration.ts";
import { jsonBody } from "../../http/body.ts";
import { respond, refusal } from "../../http/envelope.ts";
import { applySecondaryRateLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { successResponse, requestBody } from "../../http/wire.ts";
import { mapPage } from "../../operations/integration/map-page.ts";
import { planIntegration } from "../../operations/integration/plan-integration.ts";

const modeSchema = z.enum(["share", "consent"]);

const integrationRequestSchema = z
  .object({
    url: z.string().openapi({
      description: "Address of the page, on one of the business's verified domains.",
      example: "https://www.example.com/quote",
    }),
    mode: modeSchema.openapi({ description: "What the form is to do: certify consent, or ask for a share." }),
    purpose: z.string().openapi({ description: "Stated purpose, 1 to 500 characters.", example: "solar quote follow-up" }),
    entities: z.array(z.string()).openapi({
      description: "Recipients, at least one in mode `consent`. A name holds no vertical bar.",
      example: ["Acme Solar LLC", "Bright Homes Inc"],
    }),
  })
  .openapi("IntegrationRequest");

const nullableSelectorSchema = z.string().nullable();

const integrationSchema = z
  .object({
    mode: modeSchema,
    page_url: z.string(),
    form_selector: nullableSelectorSchema.openapi({ description: "Null where no selector is sure to find the form." }),
    checkbox_selector: nullableSelectorSchema,
    disclosure_selector: nullableSelectorSchema,
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

const integrationRequestExample = {
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

const createRoute = createRouteFactory("integration");

const createIntegrationRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/integrate",
  operationId: "integratePage",
  middleware: portalGuard(jsonBody, idempotencyGuard),
  summary: "Write the script tag for a form",
  description:
    "Fetches a page on a verified domain of the business as every visitor does, maps the fields of its form, and answers with the script tag to paste. The same page gives the same answer. At most ten an hour and business; what is refused before anything is fetched does not count.",
  request: { body: requestBody(integrationRequestSchema, integrationRequestExample) },
  responses: { 200: successResponse("The mapping and the script tag.", "IntegrationAnswer", integrationSchema, integrationExample) },
  refuses: ["page_unreachable"],
  when: {
    invalid_request: "The message names the input and the rule; or the page holds no form.",
    page_url_not_verified: "The host of `url` is not on a verified domain of the business.",
    rate_limited: "More than ten an hour for the business, or 120 requests a minute by one person.",
  },
});

export const integrationRoutes = createApi();

integrationRoutes.openapi(createIntegrationRoute, async (c) => {
  const { services, member } = c.var;
  const plan = await planIntegration(services, member, c.req.valid("json"));
  if (!plan.ok) return refusal(c, plan);
  if (plan.value.isFetchable) {
    const refused = applySecondaryRateLimit(c, "INTEGRATE", await services.takeExactly("INTEGRATE", member.business.id)); // as on a repeat, an answer tells the person's limit
    if (refused !== null) return refused;
  }
  return respond(c, 200, await mapPage(services, plan.value), integrationToWire);
});
