// Sending the form again so that page, browser and backend see what they would have seen without us.

import { callForm, getControls } from "./native-form.ts";

type Submitter = HTMLButtonElement | null;

/**
 * Remembers the submission as it was made and returns a way to run a task under the same circumstances.
 * Pages disable the button, or whole fieldsets, and rename it ("Sending...") one tick after the click. In an
 * undisturbed submission that is too late to matter; here it would drop the fields and change the button's entry.
 */
export function captureFormState(form: HTMLFormElement, button: Submitter): (task: () => void) => void {
  // An image button is a submitter but not in form.elements.
  const controls: { disabled: boolean }[] = button ? [...getControls(form), button] : getControls(form);
  const enabled = controls.filter((control) => !control.disabled);
  const value = button?.value;

  return (task) => {
    const disabledMeanwhile = enabled.filter((control) => control.disabled);
    const valueMeanwhile = button?.value;
    const set = (isDisabled: boolean, buttonValue = "") => {
      for (const control of disabledMeanwhile) control.disabled = isDisabled;
      if (button && value !== valueMeanwhile) button.value = buttonValue;
    };
    set(false, value);
    try {
      task();
    } finally {
      set(true, valueMeanwhile);
    }
  };
}

/**
 * Never form.submit(), which skips validation, page handlers and the submitter; never button.click(), which disabled
 * buttons and onclick guards refuse.
 */
export function resubmitForm(form: HTMLFormElement, button: Submitter): void {
  try {
    callForm(form, "requestSubmit", button);
  } catch {
    if (button) submitWithClone(form, button);
  }
}

/** For a button that was removed, moved or made an ordinary one: a copy carries its name, value and form* attributes. */
function submitWithClone(form: HTMLFormElement, button: HTMLButtonElement): void {
  const standIn = button.cloneNode() as HTMLButtonElement;
  if (standIn.type === "button") standIn.type = "submit";
  standIn.removeAttribute("form");
  standIn.removeAttribute("id");
  standIn.hidden = true;
  standIn.disabled = false;
  callForm(form, "appendChild", standIn);
  callForm(form, "requestSubmit", standIn);
  standIn.remove();
}
