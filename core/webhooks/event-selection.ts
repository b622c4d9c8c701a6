// What the people of a business may choose about an endpoint.
import { standardEventTypes, optInEventTypes } from "../events/event.ts";
import { ok, refuse, type Result } from "../result.ts";

export const maxDescriptionLength = 200;

/** Every type there is to choose from, as documented. */
export const selectableEventTypes = [...standardEventTypes, ...optInEventTypes] as const;

const selectableEventTypeSet: ReadonlySet<string> = new Set(selectableEventTypes);

/** Sorted as documented, each once; null is every ordinary type, now and later. */
export const parseSelectedEvents = (events: readonly string[] | null): Result<readonly string[] | null, "invalid_request"> => {
  if (events === null) return ok(null);
  if (events.length === 0) return refuse("invalid_request", "events: must name at least one type, or be left out for all.");
  if (events.some((type) => !selectableEventTypeSet.has(type)))
    return refuse("invalid_request", "events: must be types of event that exist.");
  return ok(selectableEventTypes.filter((type) => events.includes(type)));
};
