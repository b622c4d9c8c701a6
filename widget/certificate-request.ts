// Requests the certificate for a submission.

import { type ApiResult, callApi } from "./api-call.ts";
import type { Config } from "./config.ts";

/**
 * The full response from the API. It also contains `manage_url`, which can be used to withdraw consent, so only the caller of certify()
 * receives it.
 */
export interface CertificateReceipt {
  cert_id: string;
  fingerprint: string;
  verify_url: string;
}

export function requestCertificate({ apiBase, timeoutMs }: Config, body: string): Promise<ApiResult<CertificateReceipt>> {
  return callApi(`${apiBase}/consent`, { body }, timeoutMs, "cert_id");
}
