// Which form of a page is meant, which of its controls holds what, and where consent is asked for and said: guessed as the page script
// guesses, so that what is shown here is what will be collected.
import { normalizeRecipientName } from "../certificates/recipients.ts";
import { guessFieldKey, collectHints, isOffLimits, type NamedControl } from "../forms/field-names.ts";
import type { FormControl, FormPage, FormText, PageForm } from "../forms/form-page.ts";
import { validateMultilineText } from "../text.ts";

export interface MappedField {
  readonly control: FormControl;
  readonly key: string;
  /** 0 to 1: how much the hint is worth. */
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
  /** Controls that could be mapped and are not. */
  readonly unmappedControls: readonly FormControl[];
  readonly checkbox: FormControl | null;
  readonly disclosure: Disclosure | null;
  readonly entityCheckboxes: readonly { readonly control: FormControl; readonly entity: string }[];
}

/** A control as the page script would see it: here it has no content, and its state is that of the source. */
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
    matches: () => control.isDisabled, // asked for nothing but :disabled
  };
};

/** What may never be collected: secrets, and what is hidden or off. */
export const isOffLimitsControl = (control: FormControl): boolean => {
  const view = toNamedControl(control);
  return isOffLimits(view, collectHints(view, { textContent: control.label }));
};

const checkableTypes: ReadonlySet<string> = new Set(["checkbox", "radio"]);
const fieldKeyPattern = /^[a-z][a-z0-9_]{0,39}$/;

// By the place of the hint: the attribute of ours, autocomplete, type, last part of the name, name, id, label, placeholder, aria-label.
const confidenceByRank = [1, 1, 1, 0.95, 0.85, 0.85, 0.85, 0.75, 0.6, 0.6];
const confidenceForRank = (rank: number): number => confidenceByRank[rank] ?? 0.5;

interface FieldGuess {
  readonly control: FormControl;
  readonly key: string;
  readonly rank: number;
}

/** Null for what may never be collected. The key is empty where nothing was recognised. */
const guessField = (control: FormControl): FieldGuess | null => {
  const view = toNamedControl(control);
  const hints = collectHints(view, { textContent: control.label });
  if (isOffLimits(view, hints) || control.svcField === "") return null;
  if (control.svcField !== null && fieldKeyPattern.test(control.svcField)) return { control, key: control.svcField, rank: 1 };
  const [key, rank] = checkableTypes.has(control.type) ? ["", 0] : guessFieldKey(view, hints);
  return { control, key, rank };
};

/** For each key its strongest hint, and among equals the first control; only those that a selector finds. */
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

/** A form that asks for more of a person is more likely the one; a search and a sign-in ask for little. */
const scoreForm = (form: PageForm): number => {
  const { fields } = mapFields(form);
  const contacts = fields.filter(({ key }) => contactKeys.has(key)).length;
  const isSignIn = form.controls.some(({ type }) => type === "password");
  return fields.length + 2 * contacts + (findConsentCheckbox(form, []) === null ? 0 : 2) - (form.isSearch ? 10 : 0) - (isSignIn ? 5 : 0);
};

const consentNamePattern = /consent|agree|opt.?in|gdpr|tcpa|permission|marketing|einwillig|zustimm|acepto|consenti|accord/i;
const consentTextPattern =
  /\b(?:i|we) (?:agree|consent|accept|authori[sz]e)|\bconsent\b|\bmay (?:call|contact|text|e-?mail)|\bcontact me\b|\bcall or text\b|\bby (?:clicking|submitting|pressing|ticking|checking|sending|providing)\b|\bj['’](?:accepte|autorise|consens)|\bacepto\b|\bautorizo\b|\bconsiento\b|\bich (?:stimme|willige)\b/i;

/** Of checkboxes that are no recipient's: by what is said beside it, then by its name. A newsletter's box comes last. */
const findConsentCheckbox = (form: PageForm, entityBoxes: readonly FormControl[]): FormControl | null => {
  const boxes = form.controls.filter(
    (control) =>
      control.type === "checkbox" &&
      control.entity === null &&
      !control.isDisabled &&
      !entityBoxes.includes(control) &&
      control.selector !== null,
  );
  const isSaid = ({ label, ariaLabel }: FormControl): boolean => consentTextPattern.test(label) || consentTextPattern.test(ariaLabel);
  const isNamed = ({ name, id }: FormControl): boolean => consentNamePattern.test(name) || consentNamePattern.test(id);
  return boxes.find((box) => isSaid(box) && isNamed(box)) ?? boxes.find(isSaid) ?? boxes.find(isNamed) ?? null;
};

const minDisclosureLength = 20; // "I agree." says nothing of what to

const toUsableDisclosure = (found: Disclosure): Disclosure | null =>
  found.text.length >= minDisclosureLength && validateMultilineText(found.text) === null ? found : null;

/** Who speaks agrees: such a text is a disclosure more surely than one that only speaks of contacting. */
const agreementPattern =
  /\b(?:i|we) (?:agree|consent|accept|authori[sz]e)|\bby (?:clicking|submitting|pressing|ticking|checking|sending|providing)\b|\bj['’](?:accepte|autorise|consens)|\bacepto\b|\bautorizo\b|\bconsiento\b|\bich (?:stimme|willige)\b/i;

/** What is said beside the box; else a text of the form that speaks of consent: one that agrees, a whole one, the shortest. A question is none. */
const findDisclosure = (form: PageForm, checkbox: FormControl | null): Disclosure | null => {
  const label = checkbox === null ? null : toUsableDisclosure({ selector: checkbox.labelSelector, text: checkbox.label });
  if (label !== null && consentTextPattern.test(label.text)) return label;
  const order = ({ text, isInline }: FormText): number => (agreementPattern.test(text) ? 0 : 2) + (isInline ? 1 : 0);
  const said = form.texts
    .filter((one) => consentTextPattern.test(one.text) && !one.text.endsWith("?") && toUsableDisclosure(one) !== null)
    .sort((a, b) => order(a) - order(b) || a.text.length - b.text.length)
    .map(({ selector, text }) => ({ selector, text }));
  return said[0] ?? label;
};

const foldName = (text: string): string => normalizeRecipientName(text).toLowerCase();

/** Boxes that carry a recipient's name: in our attribute, as their value, or beside them. */
const findEntityCheckboxes = (form: PageForm, entities: readonly string[]): FormMapping["entityCheckboxes"] => {
  const declared = new Map(entities.map((entity) => [foldName(entity), entity]));
  return form.controls.flatMap((control) => {
    if (control.type !== "checkbox" || control.selector === null) return [];
    const said = control.entity === null ? [control.value, control.label, control.ariaLabel] : [control.entity];
    const entity = said.map((text) => declared.get(foldName(text))).find((name) => name !== undefined);
    return entity === undefined ? [] : [{ control, entity }];
  });
};

/** Null for a page without a form. The same page gives the same mapping. */
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
