// Dependencies of the operations in this folder.
import type { BoundedMap } from "../../../core/bounded-map.ts";
import type { Environment } from "../../../core/access/entitlement.ts";
import type { DestinationHost } from "../../../durable-objects/destination-host/object.ts";
import type { EventSequence } from "../../../durable-objects/event-sequence/object.ts";
import type { FindWebhookUrlFault } from "../../adapters/webhook-url.ts";
import type { PostWebhook } from "../../adapters/webhook-sender.ts";
import type { ReadDependencies, Schedules } from "../dependencies.ts";

/** Decrypted webhook secrets by their sealed form. */
export interface WebhookSecretCache {
  readonly openedSecrets: BoundedMap<string, string>;
}

/** Businesses' event sequences, and requests to their endpoints. */
export interface EventSequences {
  /** A business's events and endpoints, live or sandbox. */
  readonly eventSequence: (businessId: string, environment: Environment) => DurableObjectStub<EventSequence>;
  /** Counts attempts to a host of webhook endpoints. */
  readonly destinationHost: (host: string) => DurableObjectStub<DestinationHost>;
  /** Sends a POST request to a receiver. Private IP addresses are blocked. */
  readonly postWebhook: PostWebhook;
  readonly findWebhookUrlFault: FindWebhookUrlFault;
}

export interface WebhookDependencies extends ReadDependencies, EventSequences, WebhookSecretCache {}

export interface WebhookWriteDependencies extends WebhookDependencies, Schedules {}
