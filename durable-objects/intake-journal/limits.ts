// Decides when a journal accepts no more entries. The submission is then refused with 503.
import { hourMs, type Instant } from "../../core/time.ts";
import type { JournalUsage } from "./tables.ts";

const maxEntries = 100_000; // ten times the submissions of an hour at 79 per second, divided among the journals of a shard
const maxBytes = 500_000_000; // half of what can be placed within minutes, and far below the maximum size of an object
const maxAgeMs = 24 * hourMs; // a database that does not respond for a day needs an operator, so the journal must stop growing

export const isFull = ({ entries, bytes, oldestAt }: JournalUsage, now: Instant): boolean =>
  entries >= maxEntries || bytes >= maxBytes || (oldestAt !== null && now - oldestAt >= maxAgeMs);
