// Looks up credentials so that guesses from one address cost the database only a limited number of reads.
import { getIpRateLimitKey } from "../../../core/access/ip-address.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { secondMs } from "../../../core/time.ts";
import type { RequestContext } from "../context.ts";
import type { FailureResponse } from "../envelope.ts";
import { applySecondaryRateLimit } from "./rate-limits.ts";

/** Names of the rate limits for failed lookups. */
type GuessLimit = "UNKNOWN_KEYS_PER_IP" | "UNKNOWN_SESSIONS_PER_IP";

const pollMs = 20;
const maxWaitMs = secondMs / 2;

/**
 * Returns what `find` returns for a credential, or the 429 response once the IP address has reached its limit of failed lookups. Only
 * failed lookups count. A credential that was valid the last time this isolate looked it up is never refused. Any other credential might be
 * a guess, so it has to wait until the limit allows another lookup.
 *
 * Unfinished lookups may fail too, so they count toward the limit until they finish. A request that is held up only by unfinished lookups
 * waits for their results.
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
