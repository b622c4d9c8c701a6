// Decrypts the requests and responses of a delivery's attempts.
import type { Environment } from "../../../core/access/entitlement.ts";
import { eventToWire, type StoredEvent } from "../../../core/events/event.ts";
import type { Delivery, EndpointSettings, RecordedAttempt } from "../../../core/webhooks/endpoint.ts";
import type { WebhookExchange } from "../../../core/webhooks/exchange.ts";
import { openExchange } from "../../../storage/webhook-exchanges.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies } from "../dependencies.ts";
import type { FoundDeliveryRecord } from "./find-delivery-record.ts";
import type { OpenedPayload } from "./open-event-payloads.ts";

export interface OpenedAttempt extends Omit<RecordedAttempt, "exchangeSealed"> {
  /** The request and response. Null if nothing was sent, if they are withheld, or if they can no longer be read. */
  readonly exchange: WebhookExchange | null;
}

export interface OpenedDelivery {
  readonly delivery: Delivery;
  readonly environment: Environment;
  readonly endpoint: Pick<EndpointSettings, "endpointId" | "url">;
  readonly event: StoredEvent;
  /** The body of the request, which is the same in each attempt. If the event's `data` is withheld, it is null here. */
  readonly requestBody: string;
  /** True if the event's shared details, and everything that could contain them, are left out. */
  readonly isWithheld: boolean;
  /** The attempts, newest first. */
  readonly attempts: readonly OpenedAttempt[];
}

/** Opens a delivery. `payload` contains the event's shared details. If it is null, the details are withheld. */
export const openDelivery = async (
  services: ReadDependencies,
  { settings, delivery, environment, event, attempts }: FoundDeliveryRecord,
  payload: OpenedPayload | null,
): Promise<OpenedDelivery> => {
  const isWithheld = event.dataSealed !== null && payload === null;
  const owner = { deliveryId: delivery.id, businessId: settings.businessId };
  const openAttempt = async ({ exchangeSealed, ...attempt }: RecordedAttempt): Promise<OpenedAttempt> => {
    if (isWithheld || exchangeSealed === null) return { ...attempt, exchange: null };
    const open = () => openExchange(payload?.sealer ?? services.vault, owner, exchangeSealed);
    return { ...attempt, exchange: (await runIsolated(services, "webhook-exchange", open)) ?? null };
  };
  return {
    delivery,
    environment,
    endpoint: { endpointId: settings.endpointId, url: settings.url },
    event,
    requestBody: JSON.stringify(eventToWire(event, payload?.data ?? null)),
    isWithheld,
    attempts: await Promise.all(attempts.map(openAttempt)),
  };
};
