// The limits of a journal. Beyond them, the service refuses submissions with 503.
import { hourMs, type Instant } from "../../core/time.ts";
import type { JournalUsage } from "./tables.ts";

const maxEntries = 100_000; // at 79 submissions per second and 32 journals per shard, more than eleven hours of submissions
const maxBytes = 500_000_000; // far below the platform's 10 GB for an object
const maxAgeMs = 24 * hourMs; // after a day without a response, an operator must fix the database

export const isFull = ({ entries, bytes, oldestAt }: JournalUsage, now: Instant): boolean =>
  entries >= maxEntries || bytes >= maxBytes || (oldestAt !== null && now - oldestAt >= maxAgeMs);
