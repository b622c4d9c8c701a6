import { batch } from "../../../storage/database.ts";
import { listFailingEndpointRows, deleteFailingEndpoint, type FailingEndpoint } from "../../../storage/outboxes/failing-endpoints.ts";
import type { EventSequences } from "../webhooks/dependencies.ts";
import type { AdminDependencies } from "./dependencies.ts";
import { findEventSequence } from "../webhooks/find-event-sequence.ts";

const maxFailingPerShard = 50;

// of a home: each is asked how it does

/** With its failures in a row, and the deliveries that wait; null where nobody could say. Null as a whole once it answers again or is gone. */
const loadCurrentFailure = async (services: EventSequences, noted: FailingEndpoint) => {
  const unknown = { ...noted, failures: null, backlog: null };
  try {
    const held = await findEventSequence(services, noted.businessId, noted.webhookId);
    const state = held === null ? null : await held.eventSequence.findEndpoint(noted.webhookId);
    if (state === null) return null;
    if (state.health === null) return unknown;
    const { failingSince, consecutiveFailures: failures, backlog } = state.health;
    return failingSince === null ? null : { ...noted, since: failingSince, failures, backlog };
  } catch {
    return unknown; // one business's log that is away hides no other endpoint
  }
};

/** Endpoints whose owners were told that they fail, and that fail still; the others are forgotten here. By the code of the home. */
export const listFailingEndpointsByShard = (services: AdminDependencies) =>
  Promise.all(
    services.shards.all().map(async ([home, db]) => {
      const noted = await listFailingEndpointRows(db, maxFailingPerShard);
      const now = await Promise.all(noted.map((one) => loadCurrentFailure(services, one)));
      const over = noted.filter((_, at) => now[at] === null);
      await batch(
        db,
        over.map(({ webhookId }) => deleteFailingEndpoint(db, webhookId)),
      );
      return now.flatMap((one) => (one === null ? [] : [{ ...one, home }]));
    }),
  ).then((lists) => lists.flat());
