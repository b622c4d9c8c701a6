// The hidden inputs of a certified form: `svc_cert_id`, and on request one more with the certificate's address. In the
// form once, only with the certificate of the values beside them.

import type { Config } from "./config.ts";
import type { CertificateReceipt } from "./certificate-request.ts";
import { clearHiddenInput, fillHiddenInput } from "./hidden-input.ts";
import { warnOwner } from "./misconfiguration.ts";

const idInputName = "svc_cert_id";
/** The values the attached certificate of a form speaks of. */
const certifiedValuesByForm = new WeakMap<HTMLFormElement, string>();

export function attachCertificate(form: HTMLFormElement, { options }: Config, receipt: CertificateReceipt, values: string): void {
  const { certificateInput } = options;
  const isMissing = certificateInput && receipt.verify_url && !fillHiddenInput(form, certificateInput, receipt.verify_url);
  // An address in the visitor's own field would cost the lead: better no address.
  if (isMissing) warnOwner("the certificate input is a field of the visitor");
  // The id last: where both have one name, the name promises an id.
  fillHiddenInput(form, idInputName, receipt.cert_id);
  certifiedValuesByForm.set(form, values);
}

export function getCertifiedValues(form: HTMLFormElement): string | undefined {
  return certifiedValuesByForm.get(form);
}

/** A used certificate must not travel with the next submission, whether we put it there or the page echoed it. */
export function detachCertificate(form: HTMLFormElement, config?: Config): void {
  certifiedValuesByForm.delete(form);
  for (const name of [config?.options.certificateInput, idInputName]) if (name) clearHiddenInput(form, name);
}
