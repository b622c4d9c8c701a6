// Hidden inputs that send a certificate or share ID to the page's own backend. A form has at most one input of each name. Fields that the
// visitor fills in are never overwritten.

import { callForm, getControls } from "./native-form.ts";

const ownInputs = new WeakSet<HTMLInputElement>();

/** Inputs with these names are filled in by this script, regardless of their type. */
const ownNamePattern = /^svc_(cert|share)_id$/;

/**
 * Writes the value to the page's hidden input with that name, or appends an input. Returns false if a field that the visitor fills in has
 * that name.
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
  // Without this, browsers that restore hidden values on reload would restore an ID that was already used.
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
