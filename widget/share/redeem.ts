// Redeems an authorization code for the shared details. If it is unknown whether the request succeeded, it is sent once more with the same
// idempotency key.

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

/** Two attempts and the delay between them take less than the 60-second lifetime of the code. */
const attemptTimeoutMs = 10_000;
const retryDelayMs = 1000;

/** Failures after which it is unknown whether the code was redeemed. */
const retryableCodes = /^(network|timeout|bad_response|http_5\d\d|storage_unavailable|internal_error)$/;

export async function redeemCode({ api, client_id, verifier }: PendingRequest, code: string): Promise<ApiResult<RedeemedShare>> {
  const request = {
    // Derived from the verifier and the code, so that two windows with the same request redeem the code only once.
    headers: { "content-type": "application/json", "idempotency-key": await computeDigest(verifier + code) },
    body: JSON.stringify({ code, code_verifier: verifier, client_id }),
  };
  const attempt = () => callApi<RedeemedShare>(`${api}/share/redeem`, request, attemptTimeoutMs, "share_id");
  const outcome = await attempt();
  if (!outcome.problem || !retryableCodes.test(outcome.problem.code)) return outcome;
  await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
  return attempt();
}
