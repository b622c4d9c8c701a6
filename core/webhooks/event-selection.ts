// Validates the event types and description that a business chooses for an endpoint.
import { standardEventTypes, optInEventTypes } from "../events/event.ts";
import { ok, refuse, type Result } from "../result.ts";

export const maxDescriptionLength = 200;

/** All types that an endpoint can select, in documented order. */
export const selectableEventTypes = [...standardEventTypes, ...optInEventTypes] as const;

const selectableEventTypeSet: ReadonlySet<string> = new Set(selectableEventTypes);

/**
 * Returns the types in documented order without duplicates. Null stays null, which means all standard types. Refuses an empty list and
 * unknown types.
 */
export const parseSelectedEvents = (events: readonly string[] | null): Result<readonly string[] | null, "invalid_request"> => {
  if (events === null) return ok(null);
  if (events.length === 0)
    return refuse("invalid_request", "events: must contain at least one type. Send null to receive all default types.");
  if (events.some((type) => !selectableEventTypeSet.has(type)))
    return refuse("invalid_request", "events: must contain only known event types.");
  return ok(selectableEventTypes.filter((type) => events.includes(type)));
};
