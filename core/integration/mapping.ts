// Finds the form on a page, the fields it collects, the consent checkbox and the disclosure. Guesses fields as the page script does, so the
// preview matches what the script will collect.
import { normalizeRecipientName } from "../certificates/recipients.ts";
import { fieldKeyPattern, guessFieldKey, collectHints, isOffLimits, type NamedControl } from "../forms/field-names.ts";
import type { FormControl, FormPage, FormText, PageForm } from "../forms/form-page.ts";
import { validateMultilineText } from "../text.ts";

export interface MappedField {
  readonly control: FormControl;
  readonly key: string;
  /** The confidence, from 0 to 1. */
  readonly confidence: number;
}

export interface Disclosure {
  readonly selector: string | null;
  readonly text: string;
}

export interface FormMapping {
  readonly form: PageForm;
  readonly hasOtherForms: boolean;
  readonly fields: readonly MappedField[];
  /** The controls that could be collected but are not, because their key is not recognized or another control already has the key. */
  readonly unmappedControls: readonly FormControl[];
  readonly checkbox: FormControl | null;
  readonly disclosure: Disclosure | null;
  readonly entityCheckboxes: readonly { readonly control: FormControl; readonly entity: string }[];
}

/**
 * Adapts a parsed control to the interface that the page script uses. The adapted control has no text content. Its state is the state in
 * the HTML source.
 */
const toNamedControl = (control: FormControl): NamedControl => {
  const attributes: Readonly<Record<string, string>> = {
    name: control.name,
    autocomplete: control.autocomplete,
    placeholder: control.placeholder,
    "aria-label": control.ariaLabel,
  };
  return {
    type: control.type,
    id: control.id,
    textContent: "",
    getAttribute: (name) => attributes[name] ?? null,
    matches: () => control.isDisabled, // this method is only called with :disabled
  };
};

/** Returns true for controls that must never be collected: hidden, file and disabled controls, and controls that may contain a secret. */
export const isOffLimitsControl = (control: FormControl): boolean => {
  const view = toNamedControl(control);
  return isOffLimits(view, collectHints(view, control.label));
};

const checkableTypes: ReadonlySet<string> = new Set(["checkbox", "radio"]);

// The confidence for ranks 1 to 10: data-svc-field, autocomplete, type, last part of the name, name, id, label, placeholder, aria-label,
// and the type "tel". Rank 0 is not used here.
const confidenceByRank = [1, 1, 1, 0.95, 0.85, 0.85, 0.85, 0.75, 0.6, 0.6, 0.5];
const confidenceForRank = (rank: number): number => confidenceByRank[rank] ?? 0.5;

interface FieldGuess {
  readonly control: FormControl;
  readonly key: string;
  readonly rank: number;
}

/** Guesses a control's field. Returns null for controls that must never be collected. The key is empty if nothing was recognized. */
const guessField = (control: FormControl): FieldGuess | null => {
  const view = toNamedControl(control);
  const hints = collectHints(view, control.label);
  if (isOffLimits(view, hints) || control.svcField === "") return null;
  if (control.svcField !== null && fieldKeyPattern.test(control.svcField)) return { control, key: control.svcField, rank: 1 };
  const [key, rank] = checkableTypes.has(control.type) ? ["", 0] : guessFieldKey(view, hints);
  return { control, key, rank };
};

/**
 * Maps each key to the control with the strongest hint. Among equally strong hints, the first control is used. Skips controls without a
 * selector.
 */
const mapFields = (form: PageForm): { readonly fields: readonly MappedField[]; readonly unmappedControls: readonly FormControl[] } => {
  const guesses = form.controls.flatMap((control) => guessField(control) ?? []).filter(({ control }) => control.selector !== null);
  const best = new Map<string, FieldGuess>();
  for (const guess of guesses) {
    const known = best.get(guess.key);
    if (guess.key !== "" && (known === undefined || guess.rank < known.rank)) best.set(guess.key, guess);
  }
  const isMapped = (guess: FieldGuess): boolean => best.get(guess.key) === guess;
  return {
    fields: guesses.filter(isMapped).map(({ control, key, rank }) => ({ control, key, confidence: confidenceForRank(rank) })),
    unmappedControls: guesses.filter((guess) => !isMapped(guess) && !checkableTypes.has(guess.control.type)).map(({ control }) => control),
  };
};

const contactKeys: ReadonlySet<string> = new Set(["email", "phone"]);

/**
 * Scores a form. Recognized fields and a consent checkbox increase the score, contact fields most. Search and sign-in forms score lower.
 */
const scoreForm = (form: PageForm): number => {
  const { fields } = mapFields(form);
  const contacts = fields.filter(({ key }) => contactKeys.has(key)).length;
  const isSignIn = form.controls.some(({ type }) => type === "password");
  return fields.length + 2 * contacts + (findConsentCheckbox(form, []) === null ? 0 : 2) - (form.isSearch ? 10 : 0) - (isSignIn ? 5 : 0);
};

const consentNamePattern = /consent|agree|opt.?in|gdpr|tcpa|permission|marketing|einwillig|zustimm|acepto|consenti|accord/i;
/**
 * Matches text in which the reader agrees to something, such as "By submitting". A disclosure usually has such text. Text that only
 * mentions contact is less likely to be one.
 */
const agreementPattern =
  /\b(?:i|we) (?:agree|consent|accept|authori[sz]e)|\bby (?:clicking|submitting|pressing|ticking|checking|sending|providing)\b|\bj['’](?:accepte|autorise|consens)|\bacepto\b|\bautorizo\b|\bconsiento\b|\bich (?:stimme|willige)\b/i;
const contactPattern = /\bconsent\b|\bmay (?:call|contact|text|e-?mail)|\bcontact me\b|\bcall or text\b/i;
const mentionsConsent = (text: string): boolean => agreementPattern.test(text) || contactPattern.test(text);

/**
 * Returns a consent checkbox, or null. Prefers a checkbox whose label and name both suggest consent, then one whose label does, and then
 * one whose name does. Excludes recipient checkboxes.
 */
const findConsentCheckbox = (form: PageForm, entityBoxes: readonly FormControl[]): FormControl | null => {
  const boxes = form.controls.filter(
    (control) =>
      control.type === "checkbox" &&
      control.entity === null &&
      !control.isDisabled &&
      !entityBoxes.includes(control) &&
      control.selector !== null,
  );
  const hasConsentLabel = ({ label, ariaLabel }: FormControl): boolean => mentionsConsent(label) || mentionsConsent(ariaLabel);
  const hasConsentName = ({ name, id }: FormControl): boolean => consentNamePattern.test(name) || consentNamePattern.test(id);
  return (
    boxes.find((box) => hasConsentLabel(box) && hasConsentName(box)) ?? boxes.find(hasConsentLabel) ?? boxes.find(hasConsentName) ?? null
  );
};

const minDisclosureLength = 20; // excludes text such as "I agree."

const toUsableDisclosure = (candidate: Disclosure): Disclosure | null =>
  candidate.text.length >= minDisclosureLength && validateMultilineText(candidate.text) === null ? candidate : null;

/**
 * Returns the checkbox's label if it mentions consent. Otherwise returns the best text in the form that mentions consent and is not a
 * question: text in which the reader agrees to something comes first, then block elements, then shorter text. If there is no such text,
 * returns the label.
 */
const findDisclosure = (form: PageForm, checkbox: FormControl | null): Disclosure | null => {
  const label = checkbox === null ? null : toUsableDisclosure({ selector: checkbox.labelSelector, text: checkbox.label });
  if (label !== null && mentionsConsent(label.text)) return label;
  const order = ({ text, isInline }: FormText): number => (agreementPattern.test(text) ? 0 : 2) + (isInline ? 1 : 0);
  const candidates = form.texts
    .filter((item) => mentionsConsent(item.text) && !item.text.endsWith("?") && toUsableDisclosure(item) !== null)
    .sort((a, b) => order(a) - order(b) || a.text.length - b.text.length)
    .map(({ selector, text }) => ({ selector, text }));
  return candidates[0] ?? label;
};

const foldName = (text: string): string => normalizeRecipientName(text).toLowerCase();

/**
 * Finds checkboxes that have a recipient's name in data-sp1-entity. For a checkbox without this attribute, checks the value and labels
 * instead.
 */
const findEntityCheckboxes = (form: PageForm, entities: readonly string[]): FormMapping["entityCheckboxes"] => {
  const declared = new Map(entities.map((entity) => [foldName(entity), entity]));
  return form.controls.flatMap((control) => {
    if (control.type !== "checkbox" || control.selector === null) return [];
    const names = control.entity === null ? [control.value, control.label, control.ariaLabel] : [control.entity];
    const entity = names.map((text) => declared.get(foldName(text))).find((declaredName) => declaredName !== undefined);
    return entity === undefined ? [] : [{ control, entity }];
  });
};

/** Maps the form with the highest score. Returns null for a page without a form. The same page always results in the same mapping. */
export const mapForm = (page: FormPage, entities: readonly string[]): FormMapping | null => {
  const ranked = page.forms.map((form) => ({ form, score: scoreForm(form) })).sort((a, b) => b.score - a.score);
  const form = ranked[0]?.form;
  if (form === undefined) return null;
  const entityBoxes = findEntityCheckboxes(form, entities);
  const boxes = entityBoxes.map(({ control }) => control);
  const checkbox = findConsentCheckbox(form, boxes);
  const disclosure = findDisclosure(form, checkbox);
  return { form, hasOtherForms: page.forms.length > 1, ...mapFields(form), checkbox, disclosure, entityCheckboxes: entityBoxes };
};
