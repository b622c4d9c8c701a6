// The progress of an admin operation that processes all stored rows over many calls. `step` is the table or group of rows that is being
// processed. All steps of one shard are finished before the next shard is started.
import type { Database } from "../../../storage/database.ts";
import type { RowPosition } from "../../../storage/rewrap-values.ts";

/** Where the next call starts. */
export interface StoredRowsCursor {
  readonly shard: string;
  readonly step: string;
  readonly position: RowPosition;
}

export interface StoredRowsStep {
  /** The name of the key that protects new values. */
  readonly version: string;
  /** The number of values that this call found protected by an earlier key. */
  readonly outdated: number;
  /** The cursor for the next call; null after the last one. */
  readonly next: StoredRowsCursor | null;
}

/** Returns the cursor for the next call. `position` is null at the end of a step. */
export const findNextCursor = (
  shards: readonly (readonly [string, Database])[],
  steps: readonly string[],
  { shard, step }: StoredRowsCursor,
  position: RowPosition | null,
): StoredRowsCursor | null => {
  if (position !== null) return { shard, step, position };
  const nextStep = steps[steps.indexOf(step) + 1];
  if (nextStep !== undefined) return { shard, step: nextStep, position: [] };
  const [nextShard] = shards[shards.findIndex(([id]) => id === shard) + 1] ?? [];
  return nextShard === undefined ? null : { shard: nextShard, step: steps[0] as string, position: [] };
};
