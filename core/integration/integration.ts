// The answer of the integration helper: the mapping in selectors, what to look at, and the snippet.
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

/** What a share can be of (CONTRACT 2). */
const shareableKeys: ReadonlySet<string> = new Set([
  ...["email", "phone", "address_line1", "address_line2", "city", "state", "zip", "country", "first_name", "last_name"],
]);

const warningMessages = {
  multipleForms: "The page holds several forms. The one that asks for the most contact details was taken.",
  noFormSelector: "No selector is sure to find the form. Give it an id, and name it with data-form-selector.",
  noContactField: "No field for an e-mail address or a phone number was recognised.",
  noFieldRecognized: "No field was recognised: nothing would be collected. Mark the fields with data-svc-field.",
  noConsentCheckbox: "No consent checkbox was found. Without one, sending the form is the whole consent.",
  preCheckedConsent:
    "The consent checkbox is ticked when the page opens. Consent that is given before it is asked for is no consent in many places.",
  noDisclosure:
    "No disclosure was found in the form. Name the element that shows it with data-disclosure-selector; without one nothing is certified.",
  inlineDisclosureText:
    "No selector is sure to find the disclosure, so the snippet holds its text. Give the element an id, or change both together.",
  unmarkedEntityCheckbox:
    "A checkbox of a recipient carries no data-sp1-entity: add it, with the recipient's name, to each box named in entity_checkboxes.",
  partialEntityCheckboxes: "Some recipients have a checkbox and some have none. Those without one count as neither accepted nor declined.",
} as const;

const getSelector = (control: FormControl): string => control.selector as string; // mapped are only those that have one

/** Averages what the hints are worth; without a disclosure, or with a choice between forms, it is worth less. */
const computeConfidence = (fields: readonly MappedField[], mapping: FormMapping, mode: IntegrationMode): number => {
  if (fields.length === 0) return 0;
  const average = fields.reduce((sum, { confidence }) => sum + confidence, 0) / fields.length;
  const isHeard = mode === "share" || mapping.disclosure !== null;
  return Math.round(average * (isHeard ? 1 : 0.7) * (mapping.hasOtherForms ? 0.9 : 1) * 100) / 100;
};

const collectWarnings = (
  mapping: FormMapping,
  fields: readonly MappedField[],
  { mode, entities }: IntegrationRequest,
): readonly string[] => {
  const { form, checkbox, disclosure, entityCheckboxes, hasOtherForms } = mapping;
  const when = (isSo: boolean, warning: string): readonly string[] => (isSo ? [warning] : []);
  const boxed = new Set(entityCheckboxes.map(({ entity }) => entity));
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
    ...when(isConsent && boxed.size > 0 && boxed.size < entities.length, warningMessages.partialEntityCheckboxes),
  ];
};

const buildSnippet = (
  found: ReturnType<typeof buildIntegrationDetails>,
  { purpose, entities }: IntegrationRequest,
  place: IntegrationContext,
): string => {
  const { mode, fieldMap, formSelector, disclosureSelector } = found;
  const common = { "data-client-id": place.clientId, "data-mode": mode, "data-purpose": purpose };
  const fields = {
    "data-form-selector": formSelector,
    "data-field-map": fieldMap.length === 0 ? null : JSON.stringify(Object.fromEntries(fieldMap)),
  };
  if (mode === "share") {
    const keys = fieldMap.map(([, key]) => key);
    return renderScriptTag(place.scriptUrl, { ...common, "data-scope": keys.length === 0 ? null : keys.join(" "), ...fields });
  }
  return renderScriptTag(place.scriptUrl, {
    ...common,
    "data-entities": formatEntitiesAttribute(entities),
    "data-form-selector": formSelector,
    "data-checkbox-selector": found.checkboxSelector,
    "data-disclosure-selector": disclosureSelector,
    "data-disclosure-text": disclosureSelector === null ? found.disclosureText : null,
    "data-field-map": fields["data-field-map"],
  });
};

const buildIntegrationDetails = (mapping: FormMapping, request: IntegrationRequest, { pageUrl, source }: IntegrationContext) => {
  const { mode } = request;
  const fields = mode === "share" ? mapping.fields.filter(({ key }) => shareableKeys.has(key)) : mapping.fields;
  const left = mapping.fields.filter((field) => !fields.includes(field)).map(({ control }) => control);
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
    unmapped: [...mapping.unmappedControls, ...left].map(getSelector),
    warnings: collectWarnings(mapping, fields, request),
    confidence: computeConfidence(fields, mapping, mode),
    source,
  };
};

export const buildIntegration = (mapping: FormMapping, request: IntegrationRequest, place: IntegrationContext) => {
  const found = buildIntegrationDetails(mapping, request, place);
  return { ...found, snippet: buildSnippet(found, request, place) };
};
export type Integration = ReturnType<typeof buildIntegration>;
