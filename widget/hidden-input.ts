// Hidden inputs that send a certificate or share ID to the page's own backend. A form has at most one input of each name, and a field that
// the visitor fills in is never overwritten.

import { callForm, getControls } from "./native-form.ts";

const ownInputs = new WeakSet<HTMLInputElement>();

/** Inputs with these names contain an ID from this service, regardless of their type. */
const ownNamePattern = /^svc_(cert|share)_id$/;

/**
 * Fills the page's hidden input with that name, or appends an input. Returns false if the name belongs to a field that the visitor fills
 * in.
 */
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
  // Browsers that restore hidden values on reload would restore a used ID.
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
