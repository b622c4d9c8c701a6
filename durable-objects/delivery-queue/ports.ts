// The parts of its deployment that a delivery queue needs.
import type { Clock } from "../../core/time.ts";
import type { HostPermit } from "../../core/webhooks/host-pacing.ts";
import type { EndpointHealth, EndpointSettings, OutgoingDelivery, SendResult } from "../../core/webhooks/endpoint.ts";

export interface DeliveryPorts {
  readonly clock: Clock;
  /** How far ahead an alarm may be set. Infinity, except where the clock can jump forward (development). */
  readonly maxAlarmDelayMs: number;
  readonly newDeliveryId: () => string;
  /** Must not reject. */
  readonly send: (delivery: OutgoingDelivery) => Promise<SendResult>;
  /** Counts an attempt to a host that has not answered the business with 2xx yet, before it is sent. */
  readonly takeHostAttempt: (settings: EndpointSettings) => Promise<HostPermit>;
  /** Records that the host of these settings has answered the business with 2xx. */
  readonly recordHostSuccess: (settings: EndpointSettings) => Promise<void>;
  /** Tells the owners by email that their endpoint keeps failing. */
  readonly alert: (settings: EndpointSettings, health: EndpointHealth) => Promise<void>;
  readonly logError: (error: unknown) => void;
}
