// What the people of a business may choose about an endpoint.
import { eventTypes, namedOnlyEventTypes } from "../events/event.ts";
import { ok, refuse, type Result } from "../result.ts";

export const maxDescriptionLength = 200;

/** Every type there is to choose from, as documented. */
export const choosableEventTypes = [...eventTypes, ...namedOnlyEventTypes] as const;

const knownTypes: ReadonlySet<string> = new Set(choosableEventTypes);

/** Sorted as documented, each once; null is every ordinary type, now and later. */
export const chosenEvents = (events: readonly string[] | null): Result<readonly string[] | null, "invalid_request"> => {
  if (events === null) return ok(null);
  if (events.length === 0) return refuse("invalid_request", "events: must name at least one type, or be left out for all.");
  if (events.some((type) => !knownTypes.has(type))) return refuse("invalid_request", "events: must be types of event that exist.");
  return ok(choosableEventTypes.filter((type) => events.includes(type)));
};
