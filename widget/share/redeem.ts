// The code against the details. A lost answer is asked for once more under the same key, which the API answers alike.

import { type ApiResult, callApi } from "../api-call.ts";
import type { PendingRequest } from "./pending-requests.ts";
import { computeDigest } from "./pkce.ts";

export interface RedeemedShare {
  share_id: string;
  fingerprint: string;
  scope: string[];
  expires_at: string;
  fields: Record<string, string | null>;
}

/** Two tries and the second between them stay below the code's minute. */
const attemptTimeoutMs = 10_000;
const retryDelayMs = 1000;

/** What says nothing about whether the code was spent. */
const retryableCodes = /^(network|timeout|bad_response|http_5\d\d|storage_unavailable|internal_error)$/;

export async function redeemCode({ api, client_id, verifier }: PendingRequest, code: string): Promise<ApiResult<RedeemedShare>> {
  const request = {
    // The same in every window that holds the record, so that two of them are no two redemptions.
    headers: { "content-type": "application/json", "idempotency-key": await computeDigest(verifier + code) },
    body: JSON.stringify({ code, code_verifier: verifier, client_id }),
  };
  const attempt = () => callApi<RedeemedShare>(`${api}/share/redeem`, request, attemptTimeoutMs, "share_id");
  const outcome = await attempt();
  if (!outcome.problem || !retryableCodes.test(outcome.problem.code)) return outcome;
  await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
  return attempt();
}
