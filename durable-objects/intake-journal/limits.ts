// The limits of a journal. If a journal has reached a limit, it refuses new entries, and the service responds to the submissions with 503.
import { hourMs, type Instant } from "../../core/time.ts";
import type { JournalUsage } from "./tables.ts";

const maxEntries = 100_000; // eleven hours of submissions to a shard at 79 per second, spread over 32 journals
const maxBytes = 500_000_000; // far below the platform's limit of 10 GB per object
const maxAgeMs = 24 * hourMs; // if the database has not responded for a day, an operator must fix it

export const isFull = ({ entries, bytes, oldestAt }: JournalUsage, now: Instant): boolean =>
  entries >= maxEntries || bytes >= maxBytes || (oldestAt !== null && now - oldestAt >= maxAgeMs);
