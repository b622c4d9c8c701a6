// Requests of a business that were refused: codes, hosts and ids, a week, each under its business and its own id. In the key-value
// store, because a bad request is to change no row; whoever asks for one names it, so nothing is ever searched.
import { dayMs, secondMs, type Instant } from "../core/time.ts";
import type { RefusalCode } from "../core/refusals.ts";
import type { BusinessId } from "../core/ids.ts";
import { translateFaults } from "./faults.ts";

export interface RefusedRequest {
  readonly at: Instant;
  readonly method: string;
  /** The template, never the path itself. */
  readonly route: string;
  readonly status: number;
  readonly code: RefusalCode;
  /** Of the page that sent it, as the browser says. */
  readonly originHost: string | null;
  /** Of the page it names. */
  readonly pageHost: string | null;
  readonly clientId: string | null;
  readonly keyId: string | null;
}

const refusedRetentionMs = 7 * dayMs;

const refusedRequestKey = (businessId: BusinessId, requestId: string): string => `refused:${businessId}:${requestId}`;

export const saveRefusedRequest = (kv: KVNamespace, businessId: BusinessId, requestId: string, request: RefusedRequest): Promise<void> =>
  translateFaults(() =>
    kv.put(refusedRequestKey(businessId, requestId), JSON.stringify(request), { expirationTtl: refusedRetentionMs / secondMs }),
  );

/** Null for what is another business's, was not refused, or is too long ago. */
export const findRefusedRequest = async (
  kv: KVNamespace,
  businessId: BusinessId,
  requestId: string,
  now: Instant,
): Promise<RefusedRequest | null> => {
  const kept = await translateFaults(() => kv.get<RefusedRequest>(refusedRequestKey(businessId, requestId), "json"));
  return kept === null || kept.at + refusedRetentionMs <= now ? null : kept;
};
