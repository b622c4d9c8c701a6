// The request that certifies a submission.

import { type Outcome, callApi } from "./api-call.ts";
import type { Config } from "./attributes.ts";

/** What the API answered, whole: only the caller of certify() gets it so, because `manage_url` is in it. */
export interface Receipt {
  cert_id: string;
  fingerprint: string;
  verify_url: string;
}

export function capture({ apiBase, budgetMs }: Config, body: string): Promise<Outcome<Receipt>> {
  return callApi(`${apiBase}/consent`, { body }, budgetMs, "cert_id");
}
