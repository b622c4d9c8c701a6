// The answer of the integration helper: the mapping in selectors, what to look at, and the snippet.
import type { FormControl } from "../forms/page.ts";
import type { FormMapping, MappedField } from "./mapping.ts";
import { entitiesAttribute, scriptTag } from "./snippet.ts";

export type IntegrationMode = "share" | "consent";

export interface IntegrationRequest {
  readonly mode: IntegrationMode;
  readonly purpose: string;
  readonly entities: readonly string[];
}

interface Place {
  readonly pageUrl: string;
  readonly scriptUrl: string;
  readonly clientId: string;
  readonly source: "ai" | "heuristic";
}

/** What a share can be of (CONTRACT 2). */
const shareKeys: ReadonlySet<string> = new Set([
  ...["email", "phone", "address_line1", "address_line2", "city", "state", "zip", "country", "first_name", "last_name"],
]);

const say = {
  severalForms: "The page holds several forms. The one that asks for the most contact details was taken.",
  noFormSelector: "No selector is sure to find the form. Give it an id, and name it with data-form-selector.",
  noContact: "No field for an e-mail address or a phone number was recognised.",
  noField: "No field was recognised: nothing would be collected. Mark the fields with data-svc-field.",
  noCheckbox: "No consent checkbox was found. Without one, sending the form is the whole consent.",
  ticked: "The consent checkbox is ticked when the page opens. Consent that is given before it is asked for is no consent in many places.",
  noDisclosure:
    "No disclosure was found in the form. Name the element that shows it with data-disclosure-selector; without one nothing is certified.",
  literal: "No selector is sure to find the disclosure, so the snippet holds its text. Give the element an id, or change both together.",
  unmarked:
    "A checkbox of a recipient carries no data-sp1-entity: add it, with the recipient's name, to each box named in entity_checkboxes.",
  someBoxes: "Some recipients have a checkbox and some have none. Those without one count as neither accepted nor declined.",
} as const;

const selectorOf = (control: FormControl): string => control.selector as string; // mapped are only those that have one

/** Averages what the hints are worth; without a disclosure, or with a choice between forms, it is worth less. */
const confidenceOf = (fields: readonly MappedField[], mapping: FormMapping, mode: IntegrationMode): number => {
  if (fields.length === 0) return 0;
  const average = fields.reduce((sum, { certainty }) => sum + certainty, 0) / fields.length;
  const isHeard = mode === "share" || mapping.disclosure !== null;
  return Math.round(average * (isHeard ? 1 : 0.7) * (mapping.isOneOfSeveral ? 0.9 : 1) * 100) / 100;
};

const warningsOf = (mapping: FormMapping, fields: readonly MappedField[], { mode, entities }: IntegrationRequest): readonly string[] => {
  const { form, checkbox, disclosure, entityBoxes, isOneOfSeveral } = mapping;
  const when = (isSo: boolean, warning: string): readonly string[] => (isSo ? [warning] : []);
  const boxed = new Set(entityBoxes.map(({ entity }) => entity));
  const isConsent = mode === "consent";
  return [
    ...when(isOneOfSeveral, say.severalForms),
    ...when(form.selector === null, say.noFormSelector),
    ...when(fields.length === 0, say.noField),
    ...when(fields.length > 0 && !fields.some(({ key }) => key === "email" || key === "phone"), say.noContact),
    ...when(isConsent && checkbox === null && entityBoxes.length === 0, say.noCheckbox),
    ...when(isConsent && checkbox?.isTicked === true, say.ticked),
    ...when(isConsent && disclosure === null, say.noDisclosure),
    ...when(isConsent && disclosure !== null && disclosure.selector === null, say.literal),
    ...when(isConsent && entityBoxes.some(({ control }) => control.entity === null), say.unmarked),
    ...when(isConsent && boxed.size > 0 && boxed.size < entities.length, say.someBoxes),
  ];
};

const snippetOf = (found: ReturnType<typeof foundIn>, { purpose, entities }: IntegrationRequest, place: Place): string => {
  const { mode, fieldMap, formSelector, disclosureSelector } = found;
  const common = { "data-client-id": place.clientId, "data-mode": mode, "data-purpose": purpose };
  const fields = {
    "data-form-selector": formSelector,
    "data-field-map": fieldMap.length === 0 ? null : JSON.stringify(Object.fromEntries(fieldMap)),
  };
  if (mode === "share") {
    const keys = fieldMap.map(([, key]) => key);
    return scriptTag(place.scriptUrl, { ...common, "data-scope": keys.length === 0 ? null : keys.join(" "), ...fields });
  }
  return scriptTag(place.scriptUrl, {
    ...common,
    "data-entities": entitiesAttribute(entities),
    "data-form-selector": formSelector,
    "data-checkbox-selector": found.checkboxSelector,
    "data-disclosure-selector": disclosureSelector,
    "data-disclosure-text": disclosureSelector === null ? found.disclosureText : null,
    "data-field-map": fields["data-field-map"],
  });
};

const foundIn = (mapping: FormMapping, request: IntegrationRequest, { pageUrl, source }: Place) => {
  const { mode } = request;
  const fields = mode === "share" ? mapping.fields.filter(({ key }) => shareKeys.has(key)) : mapping.fields;
  const left = mapping.fields.filter((field) => !fields.includes(field)).map(({ control }) => control);
  const isConsent = mode === "consent";
  return {
    mode,
    pageUrl,
    formSelector: mapping.form.selector,
    checkboxSelector: isConsent ? (mapping.checkbox?.selector ?? null) : null,
    disclosureSelector: isConsent ? (mapping.disclosure?.selector ?? null) : null,
    disclosureText: isConsent ? (mapping.disclosure?.text ?? null) : null,
    fieldMap: fields.map(({ control, key }) => [selectorOf(control), key] as const),
    entityCheckboxes: isConsent ? mapping.entityBoxes.map(({ control, entity }) => ({ selector: selectorOf(control), entity })) : [],
    unmapped: [...mapping.open, ...left].map(selectorOf),
    warnings: warningsOf(mapping, fields, request),
    confidence: confidenceOf(fields, mapping, mode),
    source,
  };
};

export const integrationOf = (mapping: FormMapping, request: IntegrationRequest, place: Place) => {
  const found = foundIn(mapping, request, place);
  return { ...found, snippet: snippetOf(found, request, place) };
};
export type Integration = ReturnType<typeof integrationOf>;
