// The lane of an endpoint as it runs here: the queue of durable-objects/endpoint-lane/object.ts, sending through this deployment's
// vault, clock and guarded network.
import { EndpointLane as Lane, type LanePorts } from "../durable-objects/endpoint-lane/object.ts";
import { firstHome, newId } from "../core/ids.ts";
import { minuteMs } from "../core/time.ts";
import type { Env } from "./env.ts";
import { kindOfError } from "./log.ts";
import { alertOwners } from "./operations/webhooks/alerts.ts";
import { sendEvent } from "./operations/webhooks/sending.ts";
import { platformOf } from "./services.ts";

export class EndpointLane extends Lane<Env> {
  protected override async openPorts(): Promise<LanePorts> {
    const platform = await platformOf(this.env);
    return {
      clock: platform.clock,
      // A development clock may jump forward at a restart; what became due by that must not wait for an alarm set before it.
      farthestAlarmMs: platform.config.environment === "development" ? minuteMs : Number.POSITIVE_INFINITY,
      newDeliveryId: () => newId("dlv_", firstHome, platform.random),
      send: (sending) => sendEvent(platform, sending),
      alert: (settings, health) => alertOwners(platform, settings, health),
      fault: (error) => platform.log.fault({ at: "endpoint-lane", error: kindOfError(error) }),
    };
  }
}
