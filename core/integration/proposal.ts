// Decides which of a language model's additions to a mapping are allowed. The model sees numbered controls and numbered pieces of text, and
// returns numbers and keys from a fixed list. It cannot change fields that were already recognized, even if the model is faulty or the page
// contains a prompt injection. Text written by the model never becomes part of the snippet.
import { cutText } from "../cut-text.ts";
import type { FormControl, FormText } from "../forms/form-page.ts";
import { isOffLimitsControl, type FormMapping } from "./mapping.ts";
import { validateMultilineText } from "../text.ts";

/** The keys that a model may assign. No key exists for free text, which is never guessed. */
export const proposableKeys = [
  ...["email", "phone", "first_name", "last_name", "full_name", "address_line1", "address_line2", "city", "state", "zip", "country"],
  ...["company", "job_title"],
] as const;

const maxListedControls = 200;
const maxSummaryLength = 80;

/** A control as shown to the model: a few short strings, never HTML source. */
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

const summarizeText = (text: string): string => cutText(text.replace(/\s+/g, " ").trim(), maxSummaryLength);

const toControlSummary = ({ tag, type, name, id, label, placeholder, ariaLabel }: FormControl, n: number): ControlSummary => ({
  n,
  tag,
  type,
  name: summarizeText(name),
  id: summarizeText(id),
  label: summarizeText(label || placeholder || ariaLabel),
});

/** Input types that may be guessed. The business must map free text and dates itself. */
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

/** Builds the request to the model. Returns null if there is nothing that the model could add. */
export const buildProposalRequest = (mapping: FormMapping): ProposalRequest | null => {
  const controls = listGuessableControls(mapping).map(toControlSummary);
  const boxes = mapping.checkbox === null ? listCheckboxCandidates(mapping).map(toControlSummary) : [];
  const texts =
    mapping.disclosure === null ? listDisclosureCandidates(mapping).map(({ text }, n) => ({ n, text: summarizeText(text) })) : [];
  return controls.length + boxes.length + texts.length === 0 ? null : { controls, boxes, texts };
};

/** Applies the valid parts of a proposal. Returns the same object if nothing changes. */
export const applyProposal = (mapping: FormMapping, proposal: Proposal): FormMapping => {
  const takenKeys = new Set(mapping.fields.map(({ key }) => key));
  const usedControls = new Set<FormControl>();
  const guessable = listGuessableControls(mapping);
  const added = proposal.fields.flatMap(({ n, key }) => {
    const control = guessable[n];
    if (control === undefined || usedControls.has(control) || takenKeys.has(key) || !proposableKeys.some((allowed) => allowed === key))
      return [];
    usedControls.add(control);
    takenKeys.add(key);
    return [{ control, key, confidence: 0.5 }];
  });
  const checkbox = mapping.checkbox ?? (proposal.checkbox === null ? null : (listCheckboxCandidates(mapping)[proposal.checkbox] ?? null));
  const text = proposal.disclosure === null ? undefined : listDisclosureCandidates(mapping)[proposal.disclosure];
  const disclosure = mapping.disclosure ?? (text === undefined ? null : { selector: text.selector, text: text.text });
  if (added.length === 0 && checkbox === mapping.checkbox && disclosure === mapping.disclosure) return mapping;
  return {
    ...mapping,
    fields: [...mapping.fields, ...added],
    unmappedControls: mapping.unmappedControls.filter((control) => !usedControls.has(control)),
    checkbox,
    disclosure,
  };
};
