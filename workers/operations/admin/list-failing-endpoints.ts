// Lists failing webhook endpoints of all businesses, for GET /v1/admin/stuck.
import { batch } from "../../../storage/database.ts";
import { listFailingEndpointRows, deleteFailingEndpoint, type FailingEndpoint } from "../../../storage/outboxes/failing-endpoints.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import type { AdminDependencies } from "./dependencies.ts";
import { listFromEachShard } from "./list-from-each-shard.ts";
import { findEventSequence } from "../webhooks/find-event-sequence.ts";

/** The number of endpoints is limited, because each one requires a call to its event sequence. */
const maxFailingPerShard = 50;

/**
 * Returns the current state of an endpoint that was saved as failing, or null if it has recovered or was deleted. `failures` and `backlog`
 * are null if its event sequence or delivery queue did not respond.
 */
const loadCurrentFailure = async (services: EventSequences, recorded: FailingEndpoint) => {
  const unknown = { ...recorded, failures: null, backlog: null };
  try {
    const found = await findEventSequence(services, recorded.businessId, recorded.webhookId);
    const state = found === null ? null : await found.eventSequence.findEndpoint(recorded.webhookId);
    if (state === null) return null;
    if (state.health === null) return unknown;
    const { failingSince, consecutiveFailures: failures, backlog } = state.health;
    return failingSince === null ? null : { ...recorded, since: failingSince, failures, backlog };
  } catch {
    return unknown; // list the endpoint without its state, because one unresponsive sequence must not hide the others
  }
};

/**
 * Lists endpoints that are still failing after the owners of their business were notified, at most 50 per shard, each with its shard's ID.
 * Deletes the rows of endpoints that have recovered or were deleted.
 */
export const listFailingEndpointsByShard = (services: AdminDependencies) =>
  listFromEachShard(services, async (db, shard) => {
    const recorded = await listFailingEndpointRows(db, maxFailingPerShard);
    const current = await Promise.all(recorded.map((endpoint) => loadCurrentFailure(services, endpoint)));
    const resolved = recorded.filter((_, index) => current[index] === null);
    await batch(
      db,
      resolved.map(({ webhookId }) => deleteFailingEndpoint(db, webhookId)),
    );
    return current.flatMap((failure) => (failure === null ? [] : [{ ...failure, shard }]));
  });
