// The route of the integration helper. It maps the form on one of the business's pages and returns the script tag for the form.
import { z } from "@hono/zod-openapi";
import type { Integration } from "../../../core/integration/integration.ts";
import { jsonBody } from "../../http/body.ts";
import { respond, refusal } from "../../http/envelope.ts";
import { applySecondaryRateLimit } from "../../http/guards/rate-limits.ts";
import { idempotencyGuard } from "../../http/idempotency.ts";
import { createApi, createRouteFactory } from "../../http/openapi.ts";
import { portalGuard } from "../../http/guards/portal.ts";
import { successResponse, requestBody, toWire } from "../../http/wire.ts";
import { mapPage } from "../../operations/integration/map-page.ts";
import { planIntegration } from "../../operations/integration/plan-integration.ts";

const modeSchema = z.enum(["share", "consent"]);

const integrationRequestSchema = z
  .object({
    url: z.string().meta({
      description: "URL of the page. Its host must be on one of your verified domains.",
      example: "https://www.example.com/quote",
    }),
    mode: modeSchema.meta({
      description:
        "`consent`: issues a certificate when the form is submitted. `share`: adds a button that asks the person to share contact fields.",
    }),
    purpose: z.string().meta({ description: "Purpose shown to the person, 1 to 500 characters.", example: "solar quote follow-up" }),
    entities: z.array(z.string()).meta({
      description: "Names of the recipients. `consent` mode requires at least one. Names must not contain a vertical bar (`|`).",
      example: ["Acme Solar LLC", "Bright Homes Inc"],
    }),
  })
  .openapi("IntegrationRequest");

const nullableSelectorSchema = z.string().nullable();

const integrationSchema = z
  .object({
    mode: modeSchema,
    page_url: z.string(),
    form_selector: nullableSelectorSchema.meta({
      description: "CSS selector of the form; `null` if no selector identifies the form reliably.",
    }),
    checkbox_selector: nullableSelectorSchema,
    disclosure_selector: nullableSelectorSchema,
    disclosure_text: z.string().nullable().meta({ description: "Disclosure text found in the page source." }),
    field_map: z.record(z.string(), z.string()).meta({ description: "Map from CSS selectors to field keys." }),
    entity_checkboxes: z.array(z.object({ selector: z.string(), entity: z.string() })),
    unmapped: z.array(z.string()).meta({ description: "CSS selectors of fields that are not mapped. Their values are not collected." }),
    warnings: z.array(z.string()),
    confidence: z.number().min(0).max(1),
    source: z.enum(["ai", "heuristic"]).meta({ description: "`ai` if an AI model contributed to the mapping." }),
    snippet: z.string().meta({ description: "Script tag to paste into the page." }),
  })
  .openapi("Integration");

const integrationToWire = (integration: Integration): z.input<typeof integrationSchema> =>
  toWire(integrationSchema, {
    ...integration,
    fieldMap: Object.fromEntries(integration.fieldMap),
    entityCheckboxes: integration.entityCheckboxes.map(({ selector, entity }) => ({ selector, entity })),
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
  data-field-map='{"#email":"email","#phone":"phone"}'></script>`,
};

const createRoute = createRouteFactory("integration");

const createIntegrationRoute = createRoute({
  method: "post",
  path: "/v1/business/portal/integrate",
  operationId: "integratePage",
  middleware: portalGuard(jsonBody, idempotencyGuard),
  summary: "Generate the script tag for a form",
  description:
    "Fetches a public page on one of your verified domains, maps the fields of its form, and returns the script tag to paste. For 30 days, an unchanged page returns the same result. Limit: 10 pages per hour per business. Requests that are refused before the page is fetched do not count.",
  request: { body: requestBody(integrationRequestSchema, integrationRequestExample) },
  responses: { 200: successResponse("The mapping and the script tag.", "IntegrationResponse", integrationSchema, integrationExample) },
  refuses: ["page_unreachable"],
  when: {
    invalid_request: "A field is invalid, or the page has no usable form. The message says why.",
    page_url_not_verified: "The host of `url` is not on one of your verified domains.",
    rate_limited: "More than 10 pages per hour by one business, or 120 requests per minute by one person.",
  },
});

export const integrationRoutes = createApi();

integrationRoutes.openapi(createIntegrationRoute, async (c) => {
  const { services, member } = c.var;
  const plan = await planIntegration(services, member, c.req.valid("json"));
  if (!plan.ok) return refusal(c, plan);
  if (plan.value.isFetchable) {
    // Apply the business's limit as the secondary one. The RateLimit headers then describe the person's limit, as they do in a replayed
    // response.
    const refused = applySecondaryRateLimit(c, "INTEGRATE", await services.takeExactly("INTEGRATE", member.business.id));
    if (refused !== null) return refused;
  }
  return respond(c, 200, await mapPage(services, plan.value), integrationToWire);
});
