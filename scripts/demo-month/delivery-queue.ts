// The delivery queue of a webhook endpoint during the replay of the demo month. It is the real queue with its clock set to the past, so it
// receives and sends each event at the event's own time. Only the receivers are simulated.
import type { StoredEvent } from "../../core/events/event.ts";
import { secondMs, type Instant } from "../../core/time.ts";
import type { EndpointSettings } from "../../core/webhooks/endpoint.ts";
import type { DeliveryPorts } from "../../durable-objects/delivery-queue/ports.ts";
import type { PushReceipt } from "../../durable-objects/delivery-queue/object.ts";
import { findNextDueAt } from "../../durable-objects/delivery-queue/deliveries.ts";
import { recordHostSuccess, takeHostAttempt } from "../../workers/operations/webhooks/host-attempts.ts";
import { sendEvent } from "../../workers/operations/webhooks/send-event.ts";
import { getPlatform } from "../../workers/platform/create-platform.ts";
import { DeliveryQueue as ServiceDeliveryQueue } from "../../workers/platform/delivery-queue-binding.ts";
import { receiveWebhook } from "./receiver.ts";

const handOverMs = 0.2 * secondMs; // the time between the event and its first attempt

export class DeliveryQueue extends ServiceDeliveryQueue {
  #now: Instant = 0;

  protected override async openPorts(): Promise<DeliveryPorts> {
    const clock = (): Instant => this.#now;
    const platform = await getPlatform(this.env);
    const advance = (ms: number): void => {
      this.#now += ms;
    };
    const services = { ...platform, clock, postWebhook: receiveWebhook(platform.clock(), { clock, advance }) };
    return {
      ...(await super.openPorts()),
      clock,
      idleRunMs: 0, // no event arrives during a run, so waiting for more events would only delay the replay
      send: (sending) => sendEvent(services, sending),
      takeHostAttempt: (settings) => takeHostAttempt(services, settings, { isMemberCall: false }),
      recordHostSuccess: (settings) => recordHostSuccess(services, settings),
    };
  }

  /** Does nothing, because `push` and `sendUntil` send the events at the times of the replay. */
  override async alarm(): Promise<void> {}

  override async push(settings: EndpointSettings, events: readonly StoredEvent[], upTo: number): Promise<PushReceipt | null> {
    for (const event of events) {
      await this.sendUntil(event.createdAt);
      this.#now = Math.max(this.#now, event.createdAt + handOverMs);
      await super.push(settings, [event], event.seq);
      await super.alarm();
    }
    return super.push(settings, [], upTo);
  }

  /** Sends the retries that are due before `until`. */
  async sendUntil(until: Instant): Promise<void> {
    for (let dueAt = findNextDueAt(this.ctx.storage.sql); dueAt !== null && dueAt < until; dueAt = findNextDueAt(this.ctx.storage.sql)) {
      this.#now = Math.max(this.#now, dueAt);
      await super.alarm();
    }
  }
}
