// The request that certifies a submission.

import { type ApiResult, callApi } from "./api-call.ts";
import type { Config } from "./config.ts";

/** What the API answered, whole: only the caller of certify() gets it so, because `manage_url` is in it. */
export interface CertificateReceipt {
  cert_id: string;
  fingerprint: string;
  verify_url: string;
}

export function requestCertificate({ apiBase, timeoutMs }: Config, body: string): Promise<ApiResult<CertificateReceipt>> {
  return callApi(`${apiBase}/consent`, { body }, timeoutMs, "cert_id");
}
