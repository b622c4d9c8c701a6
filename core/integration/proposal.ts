// What a model may add to a mapping. It is shown a list of controls and texts under numbers, and answers with numbers and words of
// our own lists; what was recognised without it stays, so that neither a model gone wrong nor a page that speaks to it can change
// what a form's own hints say, and nothing it writes reaches the snippet.
import type { FormControl, FormText } from "../forms/page.ts";
import { isOffLimitsControl, type FormMapping } from "./mapping.ts";
import { passageFault } from "../text.ts";

/** What a model may call a control. Free text is not among them: it is never guessed. */
export const proposableKeys = [
  ...["email", "phone", "first_name", "last_name", "full_name", "address_line1", "address_line2", "city", "state", "zip", "country"],
  ...["company", "job_title"],
] as const;

const maxListed = 200;
const maxShownLength = 80;

/** A control as a model is shown it: a few words, never the page's source. */
export interface ShownControl extends Pick<FormControl, "tag" | "type" | "name" | "id" | "label"> {
  readonly n: number;
}

export interface Question {
  readonly controls: readonly ShownControl[];
  readonly boxes: readonly ShownControl[];
  readonly texts: readonly { readonly n: number; readonly text: string }[];
}

export interface Proposal {
  readonly fields: readonly { readonly n: number; readonly key: string }[];
  readonly checkbox: number | null;
  readonly disclosure: number | null;
}

const shown = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, maxShownLength);

const shownControl = ({ tag, type, name, id, label, placeholder, ariaLabel }: FormControl, n: number): ShownControl => ({
  n,
  tag,
  type,
  name: shown(name),
  id: shown(id),
  label: shown(label || placeholder || ariaLabel),
});

/** Of these types a guess may be made at all; free text and dates stay the business's to map. */
const askableTypes: ReadonlySet<string> = new Set(["text", "email", "tel", "number", "select-one"]);
const askableOf = ({ open }: FormMapping): readonly FormControl[] => open.filter(({ type }) => askableTypes.has(type)).slice(0, maxListed);

const boxesOf = ({ form, entityBoxes }: FormMapping): readonly FormControl[] =>
  form.controls
    .filter(
      (control) => control.type === "checkbox" && control.entity === null && control.selector !== null && !isOffLimitsControl(control),
    )
    .filter((control) => entityBoxes.every((box) => box.control !== control))
    .slice(0, maxListed);

const textsOf = ({ form }: FormMapping): readonly FormText[] =>
  form.texts.filter(({ text }) => passageFault(text) === null).slice(0, maxListed);

/** Null where there is nothing left to ask. */
export const questionOf = (mapping: FormMapping): Question | null => {
  const controls = askableOf(mapping).map(shownControl);
  const boxes = mapping.checkbox === null ? boxesOf(mapping).map(shownControl) : [];
  const texts = mapping.disclosure === null ? textsOf(mapping).map(({ text }, n) => ({ n, text: shown(text) })) : [];
  return controls.length + boxes.length + texts.length === 0 ? null : { controls, boxes, texts };
};

/** The mapping with what holds of the proposal; the very same object where nothing does. */
export const withProposal = (mapping: FormMapping, proposal: Proposal): FormMapping => {
  const taken = new Set(mapping.fields.map(({ key }) => key));
  const used = new Set<FormControl>();
  const askable = askableOf(mapping);
  const added = proposal.fields.flatMap(({ n, key }) => {
    const control = askable[n];
    if (control === undefined || used.has(control) || taken.has(key) || !proposableKeys.some((one) => one === key)) return [];
    used.add(control);
    taken.add(key);
    return [{ control, key, certainty: 0.5 }];
  });
  const checkbox = mapping.checkbox ?? (proposal.checkbox === null ? null : (boxesOf(mapping)[proposal.checkbox] ?? null));
  const text = proposal.disclosure === null ? undefined : textsOf(mapping)[proposal.disclosure];
  const disclosure = mapping.disclosure ?? (text === undefined ? null : { selector: text.selector, text: text.text });
  if (added.length === 0 && checkbox === mapping.checkbox && disclosure === mapping.disclosure) return mapping;
  return {
    ...mapping,
    fields: [...mapping.fields, ...added],
    open: mapping.open.filter((control) => !used.has(control)),
    checkbox,
    disclosure,
  };
};
