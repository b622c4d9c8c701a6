// The functions and settings that the Worker passes to a delivery queue.
import type { Clock } from "../../core/time.ts";
import type { HostPermit } from "../../core/webhooks/host-pacing.ts";
import type { EndpointHealth, EndpointSettings, OutgoingDelivery, SendResult } from "../../core/webhooks/endpoint.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /**
   * The longest delay before an alarm that sends deliveries. It is infinite, except in development, where the clock can jump ahead of an
   * alarm.
   */
  readonly maxAlarmDelayMs: number;
  readonly newDeliveryId: () => string;
  /** Must not reject. */
  readonly send: (delivery: OutgoingDelivery) => Promise<SendResult>;
  /** Counts an attempt to a host that has not returned a 2xx status for the business yet. Must be called before the attempt is sent. */
  readonly takeHostAttempt: (settings: EndpointSettings) => Promise<HostPermit>;
  /** Records that the endpoint's host has returned a 2xx status for the business. */
  readonly recordHostSuccess: (settings: EndpointSettings) => Promise<void>;
  /** Notifies the owners by email that their endpoint keeps failing. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}
