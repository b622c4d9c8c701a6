// The integration helper's request and answer, as they are written on the wire (CONTRACT 10).
import { z } from "@hono/zod-openapi";
import type { Integration } from "../../../core/integration/integration.ts";

const mode = z.enum(["share", "consent"]);

export const requestSchema = z
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

export const integrationSchema = z
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

export const integrationToWire = (integration: Integration): z.infer<typeof integrationSchema> => ({
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

export const requestExample = {
  url: "https://www.example.com/quote",
  mode: "consent",
  purpose: "solar quote follow-up",
  entities: ["Acme Solar LLC", "Bright Homes Inc"],
};

export const integrationExample = {
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
