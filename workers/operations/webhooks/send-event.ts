// Signs an event and posts it to an endpoint.
import { eventToWire } from "../../../core/events/event.ts";
import type { EndpointSettings, OutgoingDelivery, SendResult } from "../../../core/webhooks/endpoint.ts";
import type { Header } from "../../../core/webhooks/exchange.ts";
import { buildDeliveryHeaders } from "../../../core/webhooks/signature.ts";
import { sealExchange } from "../../../storage/webhook-exchanges.ts";
import { openWebhookSecret } from "../../../storage/webhook-secrets.ts";
import { runIsolated } from "../../log.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { openEventPayloads } from "./open-event-payloads.ts";

/** Caches decrypted secrets, because deliveries to a busy endpoint can need the same secret a thousand times per second. */
const openCachedSecret = async (
  { openedSecrets, vault }: WebhookDependencies,
  owner: EndpointSettings,
  sealed: string,
): Promise<string> => {
  const secret = openedSecrets.get(sealed) ?? (await openWebhookSecret(vault, owner, sealed));
  openedSecrets.set(sealed, secret);
  return secret;
};

const getActiveSecrets = (services: WebhookDependencies, settings: EndpointSettings): Promise<string[]> => {
  const { secretSealed, earlierSecretSealed, earlierSecretUntil } = settings;
  const hasEarlier = earlierSecretSealed !== null && earlierSecretUntil !== null && services.clock() < earlierSecretUntil;
  const sealed = hasEarlier ? [secretSealed, earlierSecretSealed] : [secretSealed];
  return Promise.all(sealed.map((secret) => openCachedSecret(services, settings, secret)));
};

const signAndPost = async (
  services: WebhookDependencies,
  { settings, event, deliveryId, attempt }: OutgoingDelivery,
): Promise<SendResult> => {
  const payload = event.dataSealed === null ? null : (await openEventPayloads(services, [event])).get(event.id);
  if (payload === undefined) return { kind: "cancelled" };
  const body = JSON.stringify(eventToWire(event, payload?.data ?? null));
  const secrets = await getActiveSecrets(services, settings);
  const headers = buildDeliveryHeaders({ event, deliveryId, attempt, body, secrets, now: services.clock() });
  const sent = await services.postWebhook({ url: settings.url, body, headers });
  if (sent.kind === "deferred") return sent;
  if (sent.kind === "blocked") return { kind: "unanswered", error: sent.error, durationMs: 0, exchangeSealed: null };
  const { response, ...outcome } = sent.kind === "answered" ? sent : { ...sent, response: null };
  const requestHeaders = Object.entries(headers).map(([name, value]): Header => [name.toLowerCase(), value]);
  const owner = { deliveryId, businessId: settings.businessId };
  // The request has been sent, so an error here must not cause another attempt.
  const exchangeSealed = await runIsolated(services, "webhook-exchange", () =>
    sealExchange(payload?.sealer ?? services.vault, owner, { requestHeaders, response }),
  );
  return { ...outcome, exchangeSealed: exchangeSealed ?? null };
};

/**
 * Makes one delivery attempt. Never throws. If an internal error occurs before the request is sent, returns `deferred`, which does not
 * count as a failure of the receiver.
 */
export const sendEvent = async (services: WebhookDependencies, sending: OutgoingDelivery): Promise<SendResult> =>
  (await runIsolated(services, "webhook", () => signAndPost(services, sending))) ?? { kind: "deferred", error: "connection" };
