// The hidden inputs of a certified form: `svc_cert_id`, and on request one more with the certificate's address. In the
// form once, only with the certificate of the values beside them.

import type { Config } from "./attributes.ts";
import type { Receipt } from "./capture.ts";
import { emptyHidden, fillHidden } from "./hidden-input.ts";
import { tellOwner } from "./misconfiguration.ts";

const idInput = "svc_cert_id";
/** The values the attached certificate of a form speaks of. */
const certified = new WeakMap<HTMLFormElement, string>();

export function attachCertificate(form: HTMLFormElement, { options }: Config, receipt: Receipt, values: string): void {
  const { certificateInput } = options;
  const isMissing = certificateInput && receipt.verify_url && !fillHidden(form, certificateInput, receipt.verify_url);
  // An address in the visitor's own field would cost the lead: better no address.
  if (isMissing) tellOwner("the certificate input is a field of the visitor");
  // The id last: where both have one name, the name promises an id.
  fillHidden(form, idInput, receipt.cert_id);
  certified.set(form, values);
}

export function certifiedValues(form: HTMLFormElement): string | undefined {
  return certified.get(form);
}

/** A used certificate must not travel with the next submission, whether we put it there or the page echoed it. */
export function detachCertificate(form: HTMLFormElement, config?: Config): void {
  certified.delete(form);
  for (const name of [config?.options.certificateInput, idInput]) if (name) emptyHidden(form, name);
}
