// Looks up credentials, and limits the database reads that one IP address can cause with wrong credentials.
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { secondMs } from "../../../core/time.ts";
import type { RequestContext } from "../context.ts";
import type { FailureResponse } from "../envelope.ts";
import { applySecondaryRateLimit } from "./rate-limits.ts";

type GuessLimit = "UNKNOWN_KEYS_PER_IP" | "UNKNOWN_SESSIONS_PER_IP";

const pollMs = 20;
const maxWaitMs = secondMs / 2;

/**
 * Returns the result of `find`, or the 429 response if the IP address has reached its limit of failed lookups. A lookup that is still
 * running counts as failed. If running lookups use up the limit, waits up to `maxWaitMs` for them. The limit does not apply to a credential
 * that was valid at its last lookup in this isolate.
 */
export const lookUpCredential = async <Found>(
  c: RequestContext,
  limit: GuessLimit,
  credential: string,
  find: () => Promise<Found | null>,
): Promise<Found | null | FailureResponse> => {
  const { services, ip } = c.var;
  const { credentialLookups } = services;
  const [hash, address] = [sha256Hex(credential), getIpRateLimitKey(ip)];
  const findAndRecord = async (): Promise<Found | null> => {
    const found = await find();
    credentialLookups.record(hash, found !== null);
    if (found === null) await services.takeApproximately(limit, address);
    return found;
  };
  if (credentialLookups.isKnown(hash)) return findAndRecord();
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const state = services.peekApproximately(limit, address);
    const refused = applySecondaryRateLimit(c, limit, state);
    if (refused !== null) return refused;
    if (credentialLookups.start(`${limit}:${address}`, state.remaining, services.clock())) break;
    if (waitedMs >= maxWaitMs)
      return applySecondaryRateLimit(c, limit, { isAllowed: false, remaining: 0, resetMs: secondMs }) as FailureResponse;
    await scheduler.wait(pollMs);
  }
  try {
    return await findAndRecord();
  } finally {
    credentialLookups.end(`${limit}:${address}`);
  }
};
