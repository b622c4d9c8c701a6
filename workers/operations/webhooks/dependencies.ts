// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { DestinationHost } from "../../../durable-objects/destination-host/object.ts";
import type { EventSequence } from "../../../durable-objects/event-sequence/object.ts";
import type { FindWebhookUrlFault } from "../../adapters/webhook-url.ts";
import type { PostWebhook } from "../../adapters/webhook-sender.ts";
import type { ReadDependencies, Schedules } from "../dependencies.ts";

/** Caches decrypted webhook secrets by their sealed form. */
export interface WebhookSecretCache {
  readonly openedSecrets: BoundedMap<string, string>;
}

export interface EventSequences {
  /** Returns a business's live or sandbox event sequence, which contains the business's events and endpoints. */
  readonly eventSequence: (businessId: string, environment: Environment) => DurableObjectStub<EventSequence>;
  /** Returns the Durable Object that counts the webhook attempts to a host. */
  readonly destinationHost: (host: string) => DurableObjectStub<DestinationHost>;
  /** Sends a POST request to a receiver. Requests to private IP addresses are blocked. */
  readonly postWebhook: PostWebhook;
  readonly findWebhookUrlFault: FindWebhookUrlFault;
}

export interface WebhookDependencies extends ReadDependencies, EventSequences, WebhookSecretCache {}

export interface WebhookWriteDependencies extends WebhookDependencies, Schedules {}
