// When a journal takes no further entries. The submission is then answered with 503, as before the journal existed.
import { hourMs, type Instant } from "../../core/time.ts";
import type { JournalUsage } from "./tables.ts";

const maxEntries = 100_000; // ten times an hour of 79 submissions a second, spread over the journals of a shard
const maxBytes = 500_000_000; // half of what placing within minutes allows, and far below the size of an object
const maxAgeMs = 24 * hourMs; // a database that is away for a day needs an operator, who must not find an endless journal

export const isFull = ({ entries, bytes, oldestAt }: JournalUsage, now: Instant): boolean =>
  entries >= maxEntries || bytes >= maxBytes || (oldestAt !== null && now - oldestAt >= maxAgeMs);
