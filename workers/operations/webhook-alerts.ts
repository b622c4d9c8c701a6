// Owners hear of an endpoint that has been failing for long. Nothing is switched off: the most harmful failure would be a
// revocation that is never delivered.
import type { EndpointHealth, EndpointSettings } from "../../core/webhooks/endpoint.ts";
import type { Platform } from "../services.ts";

export const alertOwners = async (platform: Platform, settings: EndpointSettings, health: EndpointHealth): Promise<void> => {
  platform.log.fault({ at: "webhook", error: health.consecutiveFailures > 0 ? "an endpoint keeps failing" : settings.endpointId });
};
