// Encrypts all stored indexes of email addresses and phone numbers with the current index encryption key. The work is divided into steps,
// which the operator's command runs one after another (POST /v1/admin/keys/index). Repeating a step changes nothing, so the work can be
// stopped and resumed at any time.
import { firstShard } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { reindexSteps } from "../../../storage/reindex-rows.ts";
import type { AdminDependencies } from "./dependencies.ts";
import { findNextCursor, type StoredRowsCursor, type StoredRowsStep } from "./stored-rows-cursor.ts";

/** The number of rows per step. One batch updates them, which takes well under a second. */
const rowsPerStep = 100;

const steps = [...reindexSteps.keys()];

/**
 * Does one step of the work. `cursor` is the previous step's `next`; null starts with the first step. If `isCheck` is true, changes nothing
 * and only counts. Returns `not_found` if the cursor contains an unknown shard or step.
 */
export const reindexStoredRows = async (
  { shards, vault }: AdminDependencies,
  { cursor, isCheck }: { readonly cursor: StoredRowsCursor | null; readonly isCheck: boolean },
): Promise<Result<StoredRowsStep, "not_found">> => {
  const all = shards.all();
  const at = cursor ?? { shard: firstShard, step: steps[0] as string, position: [] };
  const [, db] = all.find(([id]) => id === at.shard) ?? [];
  const reindex = reindexSteps.get(at.step);
  if (db === undefined || reindex === undefined) return refuse("not_found");
  const { outdated, position } = await reindex(db, vault, { position: Number(at.position[0] ?? 0), max: rowsPerStep, isCheck });
  return ok({ version: vault.currentIndexKey, outdated, next: findNextCursor(all, steps, at, position === null ? null : [position]) });
};
