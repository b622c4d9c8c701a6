// The parts of its deployment that a delivery queue needs.
import type { Clock } from "../../core/time.ts";
import type { EndpointHealth, EndpointSettings, OutgoingDelivery, SendResult } from "../../core/webhooks/endpoint.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /** How far ahead an alarm may be set. Infinity, except where the clock can jump forward (development). */
  readonly maxAlarmDelayMs: number;
  readonly newDeliveryId: () => string;
  /** Must not reject. */
  readonly send: (delivery: OutgoingDelivery) => Promise<SendResult>;
  /** Tells the owners by email that their endpoint keeps failing. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}
