// The result of the integration helper: selectors, warnings and the script tag.
import type { FormControl } from "../forms/form-page.ts";
import type { FormMapping, MappedField } from "./mapping.ts";
import { formatEntitiesAttribute, renderScriptTag } from "./snippet.ts";

export type IntegrationMode = "share" | "consent";

export interface IntegrationRequest {
  readonly mode: IntegrationMode;
  readonly purpose: string;
  readonly entities: readonly string[];
}

interface IntegrationContext {
  readonly pageUrl: string;
  readonly scriptUrl: string;
  readonly clientId: string;
  readonly source: "ai" | "heuristic";
}

/** The fields that a share can contain. */
const shareableKeys: ReadonlySet<string> = new Set([
  ...["email", "phone", "address_line1", "address_line2", "city", "state", "zip", "country", "first_name", "last_name"],
]);

const warningMessages = {
  multipleForms: "The page has several forms. The form with the most contact fields was selected.",
  noFormSelector: "No reliable selector was found for the form. Give the form an id and set data-form-selector.",
  noContactField: "No email or phone field was recognized. Mark the field with data-svc-field.",
  noFieldRecognized: "No field was recognized, so nothing would be collected. Mark the fields with data-svc-field.",
  noConsentCheckbox: "No consent checkbox was found. Without one, submitting the form is the only consent action.",
  preCheckedConsent: "The consent checkbox is preselected. Many jurisdictions do not accept preselected consent. Clear it by default.",
  noDisclosure:
    "No disclosure was found in the form. Set data-disclosure-selector to the element that shows it. Without a disclosure, no certificates are issued.",
  inlineDisclosureText:
    "No reliable selector was found for the disclosure, so the tag contains its text. Give the element an id, or keep the two texts identical.",
  unmarkedEntityCheckbox:
    "A recipient checkbox has no data-sp1-entity attribute. Add it with the recipient's name to each checkbox in entity_checkboxes.",
  partialEntityCheckboxes:
    "Some recipients have no checkbox. They count as neither accepted nor declined. Add a checkbox for each recipient.",
} as const;

const getSelector = (control: FormControl): string => control.selector as string; // only controls that have a selector are mapped

/** Returns the average confidence of the fields, reduced if the disclosure is missing in consent mode or the page has several forms. */
const computeConfidence = (fields: readonly MappedField[], mapping: FormMapping, mode: IntegrationMode): number => {
  if (fields.length === 0) return 0;
  const average = fields.reduce((sum, { confidence }) => sum + confidence, 0) / fields.length;
  const hasDisclosure = mode === "share" || mapping.disclosure !== null;
  return Math.round(average * (hasDisclosure ? 1 : 0.7) * (mapping.hasOtherForms ? 0.9 : 1) * 100) / 100;
};

const collectWarnings = (
  mapping: FormMapping,
  fields: readonly MappedField[],
  { mode, entities }: IntegrationRequest,
): readonly string[] => {
  const { form, checkbox, disclosure, entityCheckboxes, hasOtherForms } = mapping;
  const when = (applies: boolean, warning: string): readonly string[] => (applies ? [warning] : []);
  const entitiesWithCheckbox = new Set(entityCheckboxes.map(({ entity }) => entity));
  const isConsent = mode === "consent";
  return [
    ...when(hasOtherForms, warningMessages.multipleForms),
    ...when(form.selector === null, warningMessages.noFormSelector),
    ...when(fields.length === 0, warningMessages.noFieldRecognized),
    ...when(fields.length > 0 && !fields.some(({ key }) => key === "email" || key === "phone"), warningMessages.noContactField),
    ...when(isConsent && checkbox === null && entityCheckboxes.length === 0, warningMessages.noConsentCheckbox),
    ...when(isConsent && checkbox?.isChecked === true, warningMessages.preCheckedConsent),
    ...when(isConsent && disclosure === null, warningMessages.noDisclosure),
    ...when(isConsent && disclosure !== null && disclosure.selector === null, warningMessages.inlineDisclosureText),
    ...when(isConsent && entityCheckboxes.some(({ control }) => control.entity === null), warningMessages.unmarkedEntityCheckbox),
    ...when(
      isConsent && entitiesWithCheckbox.size > 0 && entitiesWithCheckbox.size < entities.length,
      warningMessages.partialEntityCheckboxes,
    ),
  ];
};

const buildSnippet = (
  details: ReturnType<typeof buildIntegrationDetails>,
  { purpose, entities }: IntegrationRequest,
  context: IntegrationContext,
): string => {
  const { mode, fieldMap, formSelector, disclosureSelector } = details;
  const common = { "data-client-id": context.clientId, "data-mode": mode, "data-purpose": purpose };
  const fields = {
    "data-form-selector": formSelector,
    "data-field-map": fieldMap.length === 0 ? null : JSON.stringify(Object.fromEntries(fieldMap)),
  };
  if (mode === "share") {
    const keys = fieldMap.map(([, key]) => key);
    return renderScriptTag(context.scriptUrl, { ...common, "data-scope": keys.length === 0 ? null : keys.join(" "), ...fields });
  }
  return renderScriptTag(context.scriptUrl, {
    ...common,
    "data-entities": formatEntitiesAttribute(entities),
    "data-form-selector": formSelector,
    "data-checkbox-selector": details.checkboxSelector,
    "data-disclosure-selector": disclosureSelector,
    "data-disclosure-text": disclosureSelector === null ? details.disclosureText : null,
    "data-field-map": fields["data-field-map"],
  });
};

const buildIntegrationDetails = (mapping: FormMapping, request: IntegrationRequest, { pageUrl, source }: IntegrationContext) => {
  const { mode } = request;
  const fields = mode === "share" ? mapping.fields.filter(({ key }) => shareableKeys.has(key)) : mapping.fields;
  const unshareable = mapping.fields.filter((field) => !fields.includes(field)).map(({ control }) => control);
  const isConsent = mode === "consent";
  return {
    mode,
    pageUrl,
    formSelector: mapping.form.selector,
    checkboxSelector: isConsent ? (mapping.checkbox?.selector ?? null) : null,
    disclosureSelector: isConsent ? (mapping.disclosure?.selector ?? null) : null,
    disclosureText: isConsent ? (mapping.disclosure?.text ?? null) : null,
    fieldMap: fields.map(({ control, key }) => [getSelector(control), key] as const),
    entityCheckboxes: isConsent ? mapping.entityCheckboxes.map(({ control, entity }) => ({ selector: getSelector(control), entity })) : [],
    unmapped: [...mapping.unmappedControls, ...unshareable].map(getSelector),
    warnings: collectWarnings(mapping, fields, request),
    confidence: computeConfidence(fields, mapping, mode),
    source,
  };
};

export const buildIntegration = (mapping: FormMapping, request: IntegrationRequest, context: IntegrationContext) => {
  const details = buildIntegrationDetails(mapping, request, context);
  return { ...details, snippet: buildSnippet(details, request, context) };
};
export type Integration = ReturnType<typeof buildIntegration>;
