// Submits a held form again, so that the page, the browser and the backend see the same submission as without this script.

import { callForm, getControls } from "./native-form.ts";

type Submitter = HTMLButtonElement | null;

/**
 * Records which controls are enabled, and the button's value. Returns a function that runs a task with this state restored. Pages disable
 * controls and rename the button ("Sending...") right after the click. At that time, the browser has already collected the values of a
 * normal submission, but not those of a held one.
 */
export function captureFormState(form: HTMLFormElement, button: Submitter): (task: () => void) => void {
  // form.elements does not include image buttons, so the button is added here.
  const controls: { disabled: boolean }[] = button ? [...getControls(form), button] : getControls(form);
  const enabled = controls.filter((control) => !control.disabled);
  const value = button?.value;

  return (task) => {
    const disabledMeanwhile = enabled.filter((control) => control.disabled);
    const valueMeanwhile = button?.value;
    const set = (isDisabled: boolean, buttonValue: string | undefined) => {
      for (const control of disabledMeanwhile) control.disabled = isDisabled;
      if (button && value !== valueMeanwhile) button.value = buttonValue as string;
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
 * Submits the form with requestSubmit. The alternatives do not work: form.submit() would skip validation, page handlers and the submitter,
 * and button.click() would fail on disabled buttons and run the page's onclick handlers again.
 */
export function resubmitForm(form: HTMLFormElement, button: Submitter): void {
  try {
    callForm(form, "requestSubmit", button);
  } catch {
    if (button) submitWithClone(form, button);
  }
}

/**
 * Submits with a clone of the button. Used if the button was removed or moved, or is no longer a submit button. The clone has the same
 * attributes, except for `form`.
 */
function submitWithClone(form: HTMLFormElement, button: HTMLButtonElement): void {
  const clone = button.cloneNode() as HTMLButtonElement;
  if (clone.type === "button") clone.type = "submit";
  clone.removeAttribute("form");
  clone.disabled = false;
  callForm(form, "appendChild", clone);
  callForm(form, "requestSubmit", clone);
  clone.remove();
}
