// Which form of a page is meant, which of its controls holds what, and where consent is asked for and said: guessed as the page script
// guesses, so that what is shown here is what will be collected.
import { comparableName } from "../certificates/recipients.ts";
import { guessKey, hintsOf, isOffLimits, type NamedControl } from "../forms/field-names.ts";
import type { FormControl, FormPage, FormText, PageForm } from "../forms/page.ts";
import { passageFault } from "../text.ts";

export interface MappedField {
  readonly control: FormControl;
  readonly key: string;
  /** 0 to 1: how much the hint is worth. */
  readonly certainty: number;
}

export interface Disclosure {
  readonly selector: string | null;
  readonly text: string;
}

export interface FormMapping {
  readonly form: PageForm;
  readonly isOneOfSeveral: boolean;
  readonly fields: readonly MappedField[];
  /** Controls that could be mapped and are not. */
  readonly open: readonly FormControl[];
  readonly checkbox: FormControl | null;
  readonly disclosure: Disclosure | null;
  readonly entityBoxes: readonly { readonly control: FormControl; readonly entity: string }[];
}

/** A control as the page script would see it: here it has no content, and its state is that of the source. */
const named = (control: FormControl): NamedControl => {
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
  const view = named(control);
  return isOffLimits(view, hintsOf(view, { textContent: control.label }));
};

const boxTypes: ReadonlySet<string> = new Set(["checkbox", "radio"]);
const validKey = /^[a-z][a-z0-9_]{0,39}$/;

// By the place of the hint: the attribute of ours, autocomplete, type, last part of the name, name, id, label, placeholder, aria-label.
const certainties = [1, 1, 1, 0.95, 0.85, 0.85, 0.85, 0.75, 0.6, 0.6];
const certaintyOf = (rank: number): number => certainties[rank] ?? 0.5;

interface Guess {
  readonly control: FormControl;
  readonly key: string;
  readonly rank: number;
}

/** Null for what may never be collected. The key is empty where nothing was recognised. */
const guessOf = (control: FormControl): Guess | null => {
  const view = named(control);
  const hints = hintsOf(view, { textContent: control.label });
  if (isOffLimits(view, hints) || control.svcField === "") return null;
  if (control.svcField !== null && validKey.test(control.svcField)) return { control, key: control.svcField, rank: 1 };
  const [key, rank] = boxTypes.has(control.type) ? ["", 0] : guessKey(view, hints);
  return { control, key, rank };
};

/** For each key its strongest hint, and among equals the first control; only those that a selector finds. */
const fieldsOf = (form: PageForm): { readonly fields: readonly MappedField[]; readonly open: readonly FormControl[] } => {
  const guesses = form.controls.flatMap((control) => guessOf(control) ?? []).filter(({ control }) => control.selector !== null);
  const best = new Map<string, Guess>();
  for (const guess of guesses) {
    const known = best.get(guess.key);
    if (guess.key !== "" && (known === undefined || guess.rank < known.rank)) best.set(guess.key, guess);
  }
  const isMapped = (guess: Guess): boolean => best.get(guess.key) === guess;
  return {
    fields: guesses.filter(isMapped).map(({ control, key, rank }) => ({ control, key, certainty: certaintyOf(rank) })),
    open: guesses.filter((guess) => !isMapped(guess) && !boxTypes.has(guess.control.type)).map(({ control }) => control),
  };
};

const contactKeys: ReadonlySet<string> = new Set(["email", "phone"]);

/** A form that asks for more of a person is more likely the one; a search and a sign-in ask for little. */
const scoreOf = (form: PageForm): number => {
  const { fields } = fieldsOf(form);
  const contacts = fields.filter(({ key }) => contactKeys.has(key)).length;
  const isSignIn = form.controls.some(({ type }) => type === "password");
  return fields.length + 2 * contacts + (consentBoxOf(form, []) === null ? 0 : 2) - (form.isSearch ? 10 : 0) - (isSignIn ? 5 : 0);
};

const consentName = /consent|agree|opt.?in|gdpr|tcpa|permission|marketing|einwillig|zustimm|acepto|consenti|accord/i;
const consentWords =
  /\b(?:i|we) (?:agree|consent|accept|authori[sz]e)|\bconsent\b|\bmay (?:call|contact|text|e-?mail)|\bcontact me\b|\bcall or text\b|\bby (?:clicking|submitting|pressing|ticking|checking|sending|providing)\b|\bj['’](?:accepte|autorise|consens)|\bacepto\b|\bautorizo\b|\bconsiento\b|\bich (?:stimme|willige)\b/i;

/** Of checkboxes that are no recipient's: by what is said beside it, then by its name. A newsletter's box comes last. */
const consentBoxOf = (form: PageForm, entityBoxes: readonly FormControl[]): FormControl | null => {
  const boxes = form.controls.filter(
    (control) =>
      control.type === "checkbox" &&
      control.entity === null &&
      !control.isDisabled &&
      !entityBoxes.includes(control) &&
      control.selector !== null,
  );
  const isSaid = ({ label, ariaLabel }: FormControl): boolean => consentWords.test(label) || consentWords.test(ariaLabel);
  const isNamed = ({ name, id }: FormControl): boolean => consentName.test(name) || consentName.test(id);
  return boxes.find((box) => isSaid(box) && isNamed(box)) ?? boxes.find(isSaid) ?? boxes.find(isNamed) ?? null;
};

const minDisclosureLength = 20; // "I agree." says nothing of what to

const usable = (found: Disclosure): Disclosure | null =>
  found.text.length >= minDisclosureLength && passageFault(found.text) === null ? found : null;

/** Who speaks agrees: such a text is a disclosure more surely than one that only speaks of contacting. */
const agreeing =
  /\b(?:i|we) (?:agree|consent|accept|authori[sz]e)|\bby (?:clicking|submitting|pressing|ticking|checking|sending|providing)\b|\bj['’](?:accepte|autorise|consens)|\bacepto\b|\bautorizo\b|\bconsiento\b|\bich (?:stimme|willige)\b/i;

/** What is said beside the box; else a text of the form that speaks of consent: one that agrees, a whole one, the shortest. A question is none. */
const disclosureOf = (form: PageForm, checkbox: FormControl | null): Disclosure | null => {
  const label = checkbox === null ? null : usable({ selector: checkbox.labelSelector, text: checkbox.label });
  if (label !== null && consentWords.test(label.text)) return label;
  const order = ({ text, isPart }: FormText): number => (agreeing.test(text) ? 0 : 2) + (isPart ? 1 : 0);
  const said = form.texts
    .filter((one) => consentWords.test(one.text) && !one.text.endsWith("?") && usable(one) !== null)
    .sort((a, b) => order(a) - order(b) || a.text.length - b.text.length)
    .map(({ selector, text }) => ({ selector, text }));
  return said[0] ?? label;
};

const folded = (text: string): string => comparableName(text).toLowerCase();

/** Boxes that carry a recipient's name: in our attribute, as their value, or beside them. */
const entityBoxesOf = (form: PageForm, entities: readonly string[]): FormMapping["entityBoxes"] => {
  const declared = new Map(entities.map((entity) => [folded(entity), entity]));
  return form.controls.flatMap((control) => {
    if (control.type !== "checkbox" || control.selector === null) return [];
    const said = control.entity === null ? [control.value, control.label, control.ariaLabel] : [control.entity];
    const entity = said.map((text) => declared.get(folded(text))).find((name) => name !== undefined);
    return entity === undefined ? [] : [{ control, entity }];
  });
};

/** Null for a page without a form. The same page gives the same mapping. */
export const mapForm = (page: FormPage, entities: readonly string[]): FormMapping | null => {
  const ranked = page.forms.map((form) => ({ form, score: scoreOf(form) })).sort((a, b) => b.score - a.score);
  const form = ranked[0]?.form;
  if (form === undefined) return null;
  const entityBoxes = entityBoxesOf(form, entities);
  const boxes = entityBoxes.map(({ control }) => control);
  const checkbox = consentBoxOf(form, boxes);
  const disclosure = disclosureOf(form, checkbox);
  return { form, isOneOfSeveral: page.forms.length > 1, ...fieldsOf(form), checkbox, disclosure, entityBoxes };
};
