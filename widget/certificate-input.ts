// The hidden inputs of a certified form: `svc_cert_id`, and on request one more with the certificate's address. In the
// form once, only with the certificate of the values beside them.

import type { Config } from "./attributes.ts";
import type { Receipt } from "./capture.ts";
import { tellOwner } from "./misconfiguration.ts";
import { callForm, controlsOf } from "./native-form.ts";

const idInput = "svc_cert_id";
const ours = new WeakSet<HTMLInputElement>();
/** The values the attached certificate of a form speaks of. */
const certified = new WeakMap<HTMLFormElement, string>();

export function attachCertificate(form: HTMLFormElement, { options }: Config, receipt: Receipt, values: string): void {
  fillHidden(form, options.certificateInput, receipt.verify_url);
  // The id last: where both have one name, the name promises an id.
  fillHidden(form, idInput, receipt.cert_id);
  certified.set(form, values);
}

/** Fills the page's own placeholder of that name, or appends an input. */
function fillHidden(form: HTMLFormElement, name: string | undefined, value: string): void {
  if (!name || !value) return;
  const [placeholder] = named(form, name);
  if (placeholder && !isPlaceholder(placeholder)) {
    // An address in the visitor's own field would cost the lead: better no address.
    tellOwner("the certificate input is a field of the visitor");
    return;
  }
  const input = placeholder || document.createElement("input");
  if (!placeholder) {
    input.type = "hidden";
    input.name = name;
    ours.add(input);
    callForm(form, "appendChild", input);
  }
  input.value = value;
  // Browsers that restore hidden values on reload would bring a used certificate back.
  input.autocomplete = "off";
}

export function certifiedValues(form: HTMLFormElement): string | undefined {
  return certified.get(form);
}

/** A used certificate must not travel with the next submission, whether we put it there or the page echoed it. */
export function detachCertificate(form: HTMLFormElement, config?: Config): void {
  certified.delete(form);
  for (const name of [config?.options.certificateInput, idInput]) {
    for (const input of named(form, name)) {
      if (ours.has(input)) input.remove();
      else if (isPlaceholder(input)) input.value = "";
    }
  }
}

function named(form: HTMLFormElement, name: string | undefined): HTMLInputElement[] {
  return controlsOf(form).filter((control) => control.name === name);
}

/** The id has its name to itself. The other name is the page's to choose, and may be that of a field by mistake. */
function isPlaceholder({ name, type }: HTMLInputElement): boolean {
  return name === idInput || type === "hidden";
}
