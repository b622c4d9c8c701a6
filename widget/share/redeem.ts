// The code against the details. A lost answer is asked for once more under the same key, which the API answers alike.

import { type Outcome, callApi } from "../api-call.ts";
import type { Pending } from "./pending.ts";
import { digestOf } from "./pkce.ts";

export interface Redeemed {
  share_id: string;
  fingerprint: string;
  scope: string[];
  expires_at: string;
  fields: Record<string, string | null>;
}

/** Two tries and the second between them stay below the code's minute. */
const tryMs = 10_000;
const pauseMs = 1000;

/** What says nothing about whether the code was spent. */
const lost = /^(network|timeout|bad_response|http_5\d\d|storage_unavailable|internal_error)$/;

export async function redeem({ api, client_id, verifier }: Pending, code: string): Promise<Outcome<Redeemed>> {
  const request = {
    // The same in every window that holds the record, so that two of them are no two redemptions.
    headers: { "content-type": "application/json", "idempotency-key": await digestOf(verifier + code) },
    body: JSON.stringify({ code, code_verifier: verifier, client_id }),
  };
  const attempt = () => callApi<Redeemed>(`${api}/share/redeem`, request, tryMs, "share_id");
  const outcome = await attempt();
  if (!outcome.problem || !lost.test(outcome.problem.code)) return outcome;
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
  return attempt();
}
