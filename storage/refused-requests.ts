// A business's refused requests, which its developers can look up by request ID for seven days. The records contain only codes, routes,
// hosts and IDs. They are stored in KV, because a refused request must not write to the database.
import { dayMs, secondMs, type Instant } from "../core/time.ts";
import type { RefusalCode } from "../core/refusals.ts";
import type { BusinessId } from "../core/ids.ts";
import { translateFaults } from "./faults.ts";

export interface RefusedRequest {
  readonly at: Instant;
  readonly method: string;
  /** The route template, never the actual path. */
  readonly route: string;
  readonly status: number;
  readonly code: RefusalCode;
  /** The host in the Origin header. */
  readonly originHost: string | null;
  /** The host of the page URL in the request body. */
  readonly pageHost: string | null;
  readonly clientId: string | null;
  readonly keyId: string | null;
}

const refusedRetentionMs = 7 * dayMs;

const refusedRequestKey = (businessId: BusinessId, requestId: string): string => `refused:${businessId}:${requestId}`;

/** Saves a refused request. Throws a StorageFault if KV is unavailable. */
export const saveRefusedRequest = (kv: KVNamespace, businessId: BusinessId, requestId: string, request: RefusedRequest): Promise<void> =>
  translateFaults(() =>
    kv.put(refusedRequestKey(businessId, requestId), JSON.stringify(request), { expirationTtl: refusedRetentionMs / secondMs }),
  );

/**
 * Finds a refused request. Returns null if it is older than seven days, if the business has no request with this ID, or if the request was
 * not refused.
 */
export const findRefusedRequest = async (
  kv: KVNamespace,
  businessId: BusinessId,
  requestId: string,
  now: Instant,
): Promise<RefusedRequest | null> => {
  const saved = await translateFaults(() => kv.get<RefusedRequest>(refusedRequestKey(businessId, requestId), "json"));
  return saved === null || saved.at + refusedRetentionMs <= now ? null : saved;
};
