// The limits of a journal. A journal that has reached a limit refuses new entries, and the service responds to their submissions with 503.
import { hourMs, type Instant } from "../../core/time.ts";
import type { JournalUsage } from "./tables.ts";

const maxEntries = 100_000; // more than eleven hours of submissions, at 79 per second and with 32 journals per shard
const maxBytes = 500_000_000; // far below the platform's 10 GB for an object
const maxAgeMs = 24 * hourMs; // if the database has not responded for a day, an operator must fix it

export const isFull = ({ entries, bytes, oldestAt }: JournalUsage, now: Instant): boolean =>
  entries >= maxEntries || bytes >= maxBytes || (oldestAt !== null && now - oldestAt >= maxAgeMs);
