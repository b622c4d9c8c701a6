// Counts webhook attempts to hosts that have not returned a 2xx status to the business yet.
import type { EndpointSettings } from "../../../core/webhooks/endpoint.ts";
import { getEndpointHost, type HostPermit } from "../../../core/webhooks/host-pacing.ts";
import { requestTimeoutMs, withDeadline } from "../../../storage/database.ts";
import type { Runtime } from "../dependencies.ts";
import type { EventSequences } from "./dependencies.ts";

type HostServices = Pick<EventSequences, "destinationHost"> & Pick<Runtime, "clock" | "config">;

export const hostWaitMessage =
  "This host has not returned a 2xx response to your business yet, so attempts to it are limited. Try again in a minute.";

/**
 * Asks the Durable Object of the endpoint's host whether an attempt may be sent now. The object limits attempts until the host has returned
 * a 2xx status to the business. Rejects if the object does not respond. In that case, the caller must send nothing.
 */
export const takeHostAttempt = (
  { destinationHost, clock, config }: HostServices,
  { url, businessId }: EndpointSettings,
  { isMemberCall }: { readonly isMemberCall: boolean },
): Promise<HostPermit> => {
  const { UNPROVEN_HOST_PER_BUSINESS: business, UNPROVEN_HOST: host } = config.limits;
  const attempt = { businessId, now: clock(), limits: { business, host }, isMemberCall };
  return withDeadline(async () => destinationHost(getEndpointHost(url)).takeAttempt(attempt), requestTimeoutMs);
};

/** Records that the endpoint's host has returned a 2xx status to the business. */
export const recordHostSuccess = ({ destinationHost, clock }: HostServices, { url, businessId }: EndpointSettings): Promise<void> =>
  withDeadline(async () => destinationHost(getEndpointHost(url)).recordSuccess(businessId, clock()), requestTimeoutMs);
