// Instants and durations. An Instant is the number of milliseconds since 1970-01-01T00:00:00Z. Text forms (ISO 8601 in UTC, always with
// milliseconds) are used only where data enters or leaves the service.

export type Instant = number;
export type Clock = () => Instant;

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Formats an instant as text, for example `2026-11-20T10:05:00.000Z`. */
export const toIso = (instant: Instant): string => new Date(instant).toISOString();

export const toIsoOrNull = (instant: Instant | null): string | null => (instant === null ? null : toIso(instant));

/** Returns the number of the UTC day, counted from 1970-01-01. */
export const toDayNumber = (instant: Instant): number => Math.floor(instant / dayMs);

/** Returns the number of seconds until the UTC day ends, which is the Retry-After of daily limits. */
export const getSecondsUntilTomorrow = (now: Instant): number => dayMs / secondMs - (Math.floor(now / secondMs) % (dayMs / secondMs));
