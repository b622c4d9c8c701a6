// The functions and settings that the Worker passes to a delivery queue.
import type { Clock } from "../../core/time.ts";
import type { HostPermit } from "../../core/webhooks/host-pacing.ts";
import type { EndpointHealth, EndpointSettings, OutgoingDelivery, SendResult } from "../../core/webhooks/endpoint.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /**
   * The maximum delay of the alarm that sends deliveries. In production, it is infinite. In development, the clock can be moved ahead,
   * which makes deliveries due before their alarm runs.
   */
  readonly maxAlarmDelayMs: number;
  /** How long a run of the alarm waits for another event after it has sent a delivery. */
  readonly idleRunMs: number;
  readonly newDeliveryId: () => string;
  /** Sends a delivery. Must not reject. */
  readonly send: (delivery: OutgoingDelivery) => Promise<SendResult>;
  /**
   * If the host's limits allow an attempt, counts it. Call this before each attempt to a host that has not returned a 2xx status for the
   * business yet.
   */
  readonly takeHostAttempt: (settings: EndpointSettings) => Promise<HostPermit>;
  /** Records that the endpoint's host has returned a 2xx status for the business. */
  readonly recordHostSuccess: (settings: EndpointSettings) => Promise<void>;
  /** Emails the owners about their failing endpoint. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}
