// The hidden input `svc_cert_id`: in the form once, only with the certificate of the values beside it.

import { callForm, controlsOf } from "./native-form.ts";

const inputName = "svc_cert_id";
const ours = new WeakSet<HTMLInputElement>();
/** The values the attached certificate of a form speaks of. */
const certified = new WeakMap<HTMLFormElement, string>();

/** Fills the page's own placeholder of that name, or appends an input. */
export function attachCertificate(form: HTMLFormElement, certId: string, values: string): void {
  let input = controlsOf(form).find(isCertificateInput);
  if (!input) {
    input = document.createElement("input");
    input.type = "hidden";
    input.name = inputName;
    ours.add(input);
    callForm(form, "appendChild", input);
  }
  input.value = certId;
  // Browsers that restore hidden values on reload would bring a used certificate back.
  input.autocomplete = "off";
  certified.set(form, values);
}

export function certifiedValues(form: HTMLFormElement): string | undefined {
  return certified.get(form);
}

/** A used certificate must not travel with the next submission, whether we put it there or the page echoed it. */
export function detachCertificate(form: HTMLFormElement): void {
  certified.delete(form);
  for (const input of controlsOf(form).filter(isCertificateInput)) {
    if (ours.has(input)) input.remove();
    else input.value = "";
  }
}

function isCertificateInput(control: HTMLInputElement): boolean {
  return control.name === inputName;
}
