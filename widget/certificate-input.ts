// The hidden inputs of a certified form: `svc_cert_id` and, if `certificateInput` is set, an input with the certificate URL. They are added
// only if the form's values are still the certified values.

import type { Config } from "./config.ts";
import type { CertificateReceipt } from "./certificate-request.ts";
import { clearHiddenInput, fillHiddenInput } from "./hidden-input.ts";
import { warnOwner } from "./misconfiguration.ts";

const idInputName = "svc_cert_id";
/** The values that each form's certificate covers. */
const certifiedValuesByForm = new WeakMap<HTMLFormElement, string>();

export function attachCertificate(form: HTMLFormElement, { options }: Config, receipt: CertificateReceipt, values: string): void {
  const { certificateInput } = options;
  const isRefused = certificateInput && receipt.verify_url && !fillHiddenInput(form, certificateInput, receipt.verify_url);
  // The page's input is a field that the visitor fills in. Writing the URL into it would replace what the visitor typed.
  if (isRefused) warnOwner("data-certificate-input is not hidden: correct it");
  // The ID is written last, so that an input named "svc_cert_id" contains the ID even if it is also the `certificateInput`.
  fillHiddenInput(form, idInputName, receipt.cert_id);
  certifiedValuesByForm.set(form, values);
}

export function getCertifiedValues(form: HTMLFormElement): string | undefined {
  return certifiedValuesByForm.get(form);
}

/**
 * Removes the certificate from the form, so that the next submission does not contain it. Also removes one that the page's HTML contained.
 */
export function detachCertificate(form: HTMLFormElement, config?: Config): void {
  certifiedValuesByForm.delete(form);
  for (const name of [config?.options.certificateInput, idInputName]) if (name) clearHiddenInput(form, name);
}
