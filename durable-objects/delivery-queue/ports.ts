// The functions and settings that a delivery queue gets from its deployment.
import type { Clock } from "../../core/time.ts";
import type { HostPermit } from "../../core/webhooks/host-pacing.ts";
import type { EndpointHealth, EndpointSettings, OutgoingDelivery, SendResult } from "../../core/webhooks/endpoint.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /** The longest time until an alarm, in milliseconds. It is infinite, except in development, where the clock can jump forward. */
  readonly maxAlarmDelayMs: number;
  readonly newDeliveryId: () => string;
  /** Sends a delivery. Must not reject. */
  readonly send: (delivery: OutgoingDelivery) => Promise<SendResult>;
  /** Counts an attempt before it is sent to a host that has not yet returned a 2xx status for the business. */
  readonly takeHostAttempt: (settings: EndpointSettings) => Promise<HostPermit>;
  /** Records that the endpoint's host has returned a 2xx status for this business. */
  readonly recordHostSuccess: (settings: EndpointSettings) => Promise<void>;
  /** Notifies the owners by email that their endpoint keeps failing. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}
