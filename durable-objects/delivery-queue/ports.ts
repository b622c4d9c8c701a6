// The functions and settings that the Worker passes to a delivery queue.
import type { Clock } from "../../core/time.ts";
import type { HostPermit } from "../../core/webhooks/host-pacing.ts";
import type { EndpointHealth, EndpointSettings, OutgoingDelivery, SendResult } from "../../core/webhooks/endpoint.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /**
   * The maximum delay of the alarm that sends deliveries. It is infinite except in development, where moving the clock ahead can make a
   * delivery due before the alarm runs.
   */
  readonly maxAlarmDelayMs: number;
  /** How long a run that has sent a delivery waits for another event before it ends. */
  readonly idleRunMs: number;
  readonly newDeliveryId: () => string;
  /** Sends a delivery. Must not reject. */
  readonly send: (delivery: OutgoingDelivery) => Promise<SendResult>;
  /**
   * Counts an attempt to a host that has not returned a 2xx status for the business yet, if the host's limits allow the attempt. Must be
   * called before each such attempt.
   */
  readonly takeHostAttempt: (settings: EndpointSettings) => Promise<HostPermit>;
  /** Records that the endpoint's host has returned a 2xx status for the business. */
  readonly recordHostSuccess: (settings: EndpointSettings) => Promise<void>;
  /** Emails the owners about their failing endpoint. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}
