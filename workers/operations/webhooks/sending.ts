// One event to one endpoint: its payload opened if it still may be, its body signed with the secrets in force, sent. Used by
// the lanes, the test button and replays; nobody else sends to a customer's address.
import { eventBody, type StoredEvent, type EventData } from "../../../core/events/event.ts";
import type { EndpointSettings, Sending, Sent } from "../../../core/webhooks/endpoint.ts";
import { homeOfId, type ShareId } from "../../../core/ids.ts";
import { deliveryHeaders } from "../../../core/webhooks/signature.ts";
import { activeKeys, payloadContext } from "../../../storage/share-copies.ts";
import { openSecret } from "../../../storage/webhook-secrets.ts";
import { failingAlone } from "../../log.ts";
import type { Events, Memories, Runtime, Stores } from "../../services.ts";

/** The payloads, by event id, of those events whose share is active now; what is missing may no longer be read. */
export const openPayloads = async (services: Runtime & Stores, events: readonly StoredEvent[]): Promise<ReadonlyMap<string, EventData>> => {
  const { vault } = services;
  const byHome = Map.groupBy(events, ({ shareId }) => homeOfId(shareId ?? ""));
  const keys = await Promise.all(
    [...byHome].map(([home, of]) =>
      activeKeys(services.homes.of(`shr_${home}`), [...new Set(of.map(({ shareId }) => shareId as ShareId))], services.clock()),
    ),
  );
  const sealers = new Map(
    await Promise.all(keys.flat().map(async ({ id, keySealed }) => [id as string, await vault.under(keySealed)] as const)),
  );
  const opened = await Promise.all(
    events.map(async ({ id, shareId, dataSealed }) => {
      const sealer = sealers.get(shareId ?? "");
      if (sealer === undefined || shareId === null || dataSealed === null) return [];
      return [[id, JSON.parse(await sealer.open(payloadContext(id, shareId), dataSealed)) as EventData] as const];
    }),
  );
  return new Map(opened.flat());
};

/** Opening costs two decryptions, and a busy endpoint signs a thousand times a second with the same secret. */
const secretOf = async ({ openedSecrets, vault }: Stores & Memories, owner: EndpointSettings, sealed: string): Promise<string> => {
  const secret = openedSecrets.get(sealed) ?? (await openSecret(vault, owner, sealed));
  openedSecrets.set(sealed, secret);
  return secret;
};

const secretsInForce = (platform: Runtime & Stores & Memories, settings: EndpointSettings): Promise<string[]> => {
  const { secretSealed, earlierSecretSealed, earlierSecretUntil } = settings;
  const stillSigns = earlierSecretSealed !== null && earlierSecretUntil !== null && platform.clock() < earlierSecretUntil;
  const sealed = stillSigns ? [secretSealed, earlierSecretSealed] : [secretSealed];
  return Promise.all(sealed.map((one) => secretOf(platform, settings, one)));
};

const signAndPost = async (
  platform: Runtime & Stores & Memories & Events,
  { settings, event, deliveryId, attempt }: Sending,
): Promise<Sent> => {
  const payload = event.dataSealed === null ? null : (await openPayloads(platform, [event])).get(event.id);
  if (payload === undefined) return { kind: "cancelled" };
  const body = JSON.stringify(eventBody(event, payload));
  const secrets = await secretsInForce(platform, settings);
  const headers = deliveryHeaders({ event, deliveryId, attempt, body, secrets, now: platform.clock() });
  return platform.postWebhook({ url: settings.url, body, headers });
};

/** Never throws: a fault of ours before anything was sent is `deferred`, and not the receiver's failure. */
export const sendEvent = async (platform: Runtime & Stores & Memories & Events, sending: Sending): Promise<Sent> =>
  (await failingAlone(platform, "webhook", () => signAndPost(platform, sending))) ?? { kind: "deferred", error: "connection" };
