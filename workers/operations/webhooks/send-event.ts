import { eventToWire } from "../../../core/events/event.ts";
import type { EndpointSettings, OutgoingDelivery, SendResult } from "../../../core/webhooks/endpoint.ts";
import { buildDeliveryHeaders } from "../../../core/webhooks/signature.ts";
import { openWebhookSecret } from "../../../storage/webhook-secrets.ts";
import { runIsolated } from "../../log.ts";
import type { WebhookDependencies } from "./dependencies.ts";
import { openEventPayloads } from "./open-event-payloads.ts";

/** Opening costs two decryptions, and a busy endpoint signs a thousand times a second with the same secret. */
const openCachedSecret = async (
  { openedSecrets, vault }: WebhookDependencies,
  owner: EndpointSettings,
  sealed: string,
): Promise<string> => {
  const secret = openedSecrets.get(sealed) ?? (await openWebhookSecret(vault, owner, sealed));
  openedSecrets.set(sealed, secret);
  return secret;
};

const getActiveSecrets = (platform: WebhookDependencies, settings: EndpointSettings): Promise<string[]> => {
  const { secretSealed, earlierSecretSealed, earlierSecretUntil } = settings;
  const stillSigns = earlierSecretSealed !== null && earlierSecretUntil !== null && platform.clock() < earlierSecretUntil;
  const sealed = stillSigns ? [secretSealed, earlierSecretSealed] : [secretSealed];
  return Promise.all(sealed.map((one) => openCachedSecret(platform, settings, one)));
};

const signAndPost = async (
  platform: WebhookDependencies,
  { settings, event, deliveryId, attempt }: OutgoingDelivery,
): Promise<SendResult> => {
  const payload = event.dataSealed === null ? null : (await openEventPayloads(platform, [event])).get(event.id);
  if (payload === undefined) return { kind: "cancelled" };
  const body = JSON.stringify(eventToWire(event, payload));
  const secrets = await getActiveSecrets(platform, settings);
  const headers = buildDeliveryHeaders({ event, deliveryId, attempt, body, secrets, now: platform.clock() });
  return platform.postWebhook({ url: settings.url, body, headers });
};

/** Never throws: a fault of ours before anything was sent is `deferred`, and not the receiver's failure. */
export const sendEvent = async (platform: WebhookDependencies, sending: OutgoingDelivery): Promise<SendResult> =>
  (await runIsolated(platform, "webhook", () => signAndPost(platform, sending))) ?? { kind: "deferred", error: "connection" };
