// Runs the jobs of each shard in a separate invocation, which a queue message starts. Otherwise, the jobs of all shards would share one
// invocation's query limit, and a deployment could have only about twenty shards.
import { parseShardId, type ShardId } from "../../core/ids.ts";
import type { Instant } from "../../core/time.ts";
import { runIsolated } from "../log.ts";
import type { Platform } from "../platform/platform.ts";
import { runScheduledJobs } from "./schedule.ts";

export interface JobRequest {
  readonly shard: ShardId;
  readonly cron: string;
  /** The scheduled time of the cron run. */
  readonly at: Instant;
}

const maxMessagesPerCall = 100; // the platform's limit

/** Parses a queue message. Returns null if it is not a request for jobs. */
export const parseJobRequest = (body: unknown): JobRequest | null => {
  if (typeof body !== "object" || body === null) return null;
  const { shard, cron, at } = body as Partial<Record<keyof JobRequest, unknown>>;
  const parsed = typeof shard === "string" ? parseShardId(shard) : null;
  return parsed === null || typeof cron !== "string" || typeof at !== "number" ? null : { shard: parsed, cron, at };
};

/**
 * Starts the jobs of a cron run. With one shard, runs them directly. With several shards, sends one message per shard. If sending fails,
 * runs the jobs of all shards directly, so that a queue failure only delays work.
 */
export const startScheduledJobs = async (
  platform: Platform,
  cron: string,
  at: Instant,
  send: (messages: readonly { readonly body: JobRequest }[]) => Promise<unknown>,
): Promise<void> => {
  const messages = platform.shards.all().map(([shard]) => ({ body: { shard, cron, at } }));
  const isSent =
    messages.length > 1 &&
    (await runIsolated(platform, "job-queue", async () => {
      for (let from = 0; from < messages.length; from += maxMessagesPerCall) await send(messages.slice(from, from + maxMessagesPerCall));
      return true;
    })) === true;
  if (!isSent) await runScheduledJobs(platform, cron, at);
};

/** Runs the jobs of one shard. Ignores a shard that no longer has a database. */
export const runRequestedJobs = async (platform: Platform, { shard, cron, at }: JobRequest): Promise<void> => {
  if (platform.shards.all().some(([bound]) => bound === shard)) await runScheduledJobs(platform, cron, at, shard);
};
