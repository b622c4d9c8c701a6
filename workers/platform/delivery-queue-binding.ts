// The DeliveryQueue class that Cloudflare runs. It connects durable-objects/delivery-queue/object.ts to this deployment's vault, clock and
// outbound requests.
import { DeliveryQueue as DeliveryQueueObject } from "../../durable-objects/delivery-queue/object.ts";
import type { DeliveryPorts } from "../../durable-objects/delivery-queue/ports.ts";
import { firstShard, generateId } from "../../core/ids.ts";
import { minuteMs } from "../../core/time.ts";
import type { Env } from "../env.ts";
import { getErrorKind } from "../log.ts";
import { alertEndpointOwners } from "../operations/webhooks/alert-endpoint-owners.ts";
import { recordHostSuccess, takeHostAttempt } from "../operations/webhooks/host-attempts.ts";
import { sendEvent } from "../operations/webhooks/send-event.ts";
import { getPlatform } from "./create-platform.ts";

/**
 * How long a run waits for another event before it ends. Ending a run and starting another takes an alarm and two disk writes. With a
 * steady stream of events, waiting saves 13% of the CPU time per event.
 */
export const idleRunMs = 100;

export class DeliveryQueue extends DeliveryQueueObject<Env> {
  protected override async openPorts(): Promise<DeliveryPorts> {
    const platform = await getPlatform(this.env);
    return {
      clock: platform.clock,
      // In development, the clock can jump forward when the service restarts. Without this limit, deliveries would wait for an alarm that
      // was set before the jump.
      maxAlarmDelayMs: platform.config.environment === "development" ? minuteMs : Number.POSITIVE_INFINITY,
      idleRunMs,
      newDeliveryId: () => generateId("dlv_", firstShard, platform.random),
      send: (sending) => platform.trace("webhook delivery", () => sendEvent(platform, sending)),
      takeHostAttempt: (settings) => takeHostAttempt(platform, settings, { isMemberCall: false }),
      recordHostSuccess: (settings) => recordHostSuccess(platform, settings),
      alert: (settings, health) => alertEndpointOwners(platform, settings, health),
      logError: (error) => platform.log.error({ at: "delivery-queue", error: getErrorKind(error) }),
    };
  }
}
