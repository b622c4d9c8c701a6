// Hidden inputs that carry an answer of ours to the page's own backend. In a form once, and never in a field of the visitor.

import { callForm, getControls } from "./native-form.ts";

const ownInputs = new WeakSet<HTMLInputElement>();

/** These names promise an id of ours, whatever kind of input the page has put there. */
const ownNamePattern = /^svc_(cert|share)_id$/;

/** Fills the page's own placeholder of that name, or appends an input. False where the name is a field of the visitor. */
export function fillHiddenInput(form: HTMLFormElement, name: string, value: string): boolean {
  const [placeholder] = findInputsByName(form, name);
  if (placeholder && !isPlaceholder(placeholder)) return false;
  const input = placeholder || document.createElement("input");
  if (!placeholder) {
    input.type = "hidden";
    input.name = name;
    ownInputs.add(input);
    callForm(form, "appendChild", input);
  }
  input.value = value;
  // Browsers that restore hidden values on reload would bring a used id back.
  input.autocomplete = "off";
  return true;
}

export function clearHiddenInput(form: HTMLFormElement, name: string): void {
  for (const input of findInputsByName(form, name)) {
    if (ownInputs.has(input)) input.remove();
    else if (isPlaceholder(input)) input.value = "";
  }
}

function findInputsByName(form: HTMLFormElement, name: string): HTMLInputElement[] {
  return getControls(form).filter((control) => control.name === name);
}

function isPlaceholder({ name, type }: HTMLInputElement): boolean {
  return type === "hidden" || ownNamePattern.test(name);
}
