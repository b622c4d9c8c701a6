// What a model may add to a mapping. It is shown a list of controls and texts under numbers, and answers with numbers and words of
// our own lists; what was recognised without it stays, so that neither a model gone wrong nor a page that speaks to it can change
// what a form's own hints say, and nothing it writes reaches the snippet.
import type { FormControl, FormText } from "../forms/form-page.ts";
import { isOffLimitsControl, type FormMapping } from "./mapping.ts";
import { validateMultilineText } from "../text.ts";

/** What a model may call a control. Free text is not among them: it is never guessed. */
export const proposableKeys = [
  ...["email", "phone", "first_name", "last_name", "full_name", "address_line1", "address_line2", "city", "state", "zip", "country"],
  ...["company", "job_title"],
] as const;

const maxListedControls = 200;
const maxSummaryLength = 80;

/** A control as a model is shown it: a few words, never the page's source. */
export interface ControlSummary extends Pick<FormControl, "tag" | "type" | "name" | "id" | "label"> {
  readonly n: number;
}

export interface ProposalRequest {
  readonly controls: readonly ControlSummary[];
  readonly boxes: readonly ControlSummary[];
  readonly texts: readonly { readonly n: number; readonly text: string }[];
}

export interface Proposal {
  readonly fields: readonly { readonly n: number; readonly key: string }[];
  readonly checkbox: number | null;
  readonly disclosure: number | null;
}

const summarizeText = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, maxSummaryLength);

const toControlSummary = ({ tag, type, name, id, label, placeholder, ariaLabel }: FormControl, n: number): ControlSummary => ({
  n,
  tag,
  type,
  name: summarizeText(name),
  id: summarizeText(id),
  label: summarizeText(label || placeholder || ariaLabel),
});

/** Of these types a guess may be made at all; free text and dates stay the business's to map. */
const guessableTypes: ReadonlySet<string> = new Set(["text", "email", "tel", "number", "select-one"]);
const listGuessableControls = ({ unmappedControls }: FormMapping): readonly FormControl[] =>
  unmappedControls.filter(({ type }) => guessableTypes.has(type)).slice(0, maxListedControls);

const listCheckboxCandidates = ({ form, entityCheckboxes }: FormMapping): readonly FormControl[] =>
  form.controls
    .filter(
      (control) => control.type === "checkbox" && control.entity === null && control.selector !== null && !isOffLimitsControl(control),
    )
    .filter((control) => entityCheckboxes.every((box) => box.control !== control))
    .slice(0, maxListedControls);

const listDisclosureCandidates = ({ form }: FormMapping): readonly FormText[] =>
  form.texts.filter(({ text }) => validateMultilineText(text) === null).slice(0, maxListedControls);

/** Null where there is nothing left to ask. */
export const buildProposalRequest = (mapping: FormMapping): ProposalRequest | null => {
  const controls = listGuessableControls(mapping).map(toControlSummary);
  const boxes = mapping.checkbox === null ? listCheckboxCandidates(mapping).map(toControlSummary) : [];
  const texts =
    mapping.disclosure === null ? listDisclosureCandidates(mapping).map(({ text }, n) => ({ n, text: summarizeText(text) })) : [];
  return controls.length + boxes.length + texts.length === 0 ? null : { controls, boxes, texts };
};

/** The mapping with what holds of the proposal; the very same object where nothing does. */
export const applyProposal = (mapping: FormMapping, proposal: Proposal): FormMapping => {
  const taken = new Set(mapping.fields.map(({ key }) => key));
  const used = new Set<FormControl>();
  const askable = listGuessableControls(mapping);
  const added = proposal.fields.flatMap(({ n, key }) => {
    const control = askable[n];
    if (control === undefined || used.has(control) || taken.has(key) || !proposableKeys.some((one) => one === key)) return [];
    used.add(control);
    taken.add(key);
    return [{ control, key, confidence: 0.5 }];
  });
  const checkbox = mapping.checkbox ?? (proposal.checkbox === null ? null : (listCheckboxCandidates(mapping)[proposal.checkbox] ?? null));
  const text = proposal.disclosure === null ? undefined : listDisclosureCandidates(mapping)[proposal.disclosure];
  const disclosure = mapping.disclosure ?? (text === undefined ? null : { selector: text.selector, text: text.text });
  if (added.length === 0 && checkbox === mapping.checkbox && disclosure === mapping.disclosure) return mapping;
  return {
    ...mapping,
    fields: [...mapping.fields, ...added],
    unmappedControls: mapping.unmappedControls.filter((control) => !used.has(control)),
    checkbox,
    disclosure,
  };
};
