// Hidden inputs that carry an answer of ours to the page's own backend. In a form once, and never in a field of the visitor.

import { callForm, controlsOf } from "./native-form.ts";

const ours = new WeakSet<HTMLInputElement>();

/** These names promise an id of ours, whatever kind of input the page has put there. */
const ownName = /^svc_(cert|share)_id$/;

/** Fills the page's own placeholder of that name, or appends an input. False where the name is a field of the visitor. */
export function fillHidden(form: HTMLFormElement, name: string, value: string): boolean {
  const [placeholder] = named(form, name);
  if (placeholder && !isPlaceholder(placeholder)) return false;
  const input = placeholder || document.createElement("input");
  if (!placeholder) {
    input.type = "hidden";
    input.name = name;
    ours.add(input);
    callForm(form, "appendChild", input);
  }
  input.value = value;
  // Browsers that restore hidden values on reload would bring a used id back.
  input.autocomplete = "off";
  return true;
}

export function emptyHidden(form: HTMLFormElement, name: string): void {
  for (const input of named(form, name)) {
    if (ours.has(input)) input.remove();
    else if (isPlaceholder(input)) input.value = "";
  }
}

function named(form: HTMLFormElement, name: string): HTMLInputElement[] {
  return controlsOf(form).filter((control) => control.name === name);
}

function isPlaceholder({ name, type }: HTMLInputElement): boolean {
  return type === "hidden" || ownName.test(name);
}
