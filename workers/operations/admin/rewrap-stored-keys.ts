// Rewraps, with the current master key, all values that are sealed under earlier ones. The work is divided into steps, which the operator's
// command runs one after another (POST /v1/admin/keys/master). A repeated step changes nothing, so the work can be stopped and resumed at
// any time.
import { environments } from "../../../core/access/entitlement.ts";
import { firstShard } from "../../../core/ids.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import { listBusinessIdsAfter } from "../../../storage/accounts.ts";
import type { Database } from "../../../storage/database.ts";
import { rewrapRows, sealedTables, type RowPosition } from "../../../storage/rewrap-values.ts";
import { findMasterKeyVersion } from "../../../storage/vault.ts";
import type { AdminDependencies } from "./dependencies.ts";
import { findNextCursor, type StoredRowsCursor, type StoredRowsStep } from "./stored-rows-cursor.ts";

/**
 * The number of rows per step. A row has at most three sealed values, and each value takes one SQL statement, so a batch has at most 300.
 */
const rowsPerStep = 100;
/** The number of businesses per step. Each business takes up to four calls: one or two to each of its two event sequences. */
const businessesPerStep = 20;

/** The last step, which rewraps the signing secrets of webhook endpoints. The other steps are named after their tables. */
const endpointsStep = "endpoints";
const steps = [...sealedTables.map(({ name }) => name), endpointsStep];

const rewrapEndpoints = async (
  services: AdminDependencies,
  db: Database,
  position: RowPosition,
  isCheck: boolean,
): Promise<{ readonly outdated: number; readonly position: RowPosition | null }> => {
  const businessIds = await listBusinessIdsAfter(db, String(position[0] ?? ""), businessesPerStep);
  const sequences = businessIds.flatMap((id) => environments.map((environment) => services.eventSequence(id, environment)));
  const counts = await Promise.all(
    sequences.map(async (sequence) => {
      const secrets = await sequence.listSealedSecrets();
      const outdated = secrets.filter((sealed) => findMasterKeyVersion(sealed) !== services.vault.currentVersion);
      if (outdated.length === 0 || isCheck) return outdated.length;
      const rewrapped = await Promise.all(outdated.map(async (from) => ({ from, to: (await services.vault.rewrap(from)) ?? from })));
      await sequence.replaceSealedSecrets(rewrapped);
      return outdated.length;
    }),
  );
  return {
    outdated: counts.reduce((sum, count) => sum + count, 0),
    position: businessIds.length < businessesPerStep ? null : [businessIds.at(-1) as string],
  };
};

/**
 * Does one step of the work. `cursor` is the previous step's `next`; null starts with the first step. If `isCheck` is true, changes nothing
 * and only counts. Returns `not_found` if the cursor contains an unknown shard or step.
 */
export const rewrapStoredKeys = async (
  services: AdminDependencies,
  { cursor, isCheck }: { readonly cursor: StoredRowsCursor | null; readonly isCheck: boolean },
): Promise<Result<StoredRowsStep, "not_found">> => {
  const shards = services.shards.all();
  const at = cursor ?? { shard: firstShard, step: steps[0] as string, position: [] };
  const [, db] = shards.find(([id]) => id === at.shard) ?? [];
  if (db === undefined || !steps.includes(at.step)) return refuse("not_found");
  const table = sealedTables.find(({ name }) => name === at.step);
  const { outdated, position } =
    table === undefined
      ? await rewrapEndpoints(services, db, at.position, isCheck)
      : await rewrapRows(db, services.vault, table, { position: at.position, max: rowsPerStep, isCheck });
  const next = findNextCursor(shards, steps, at, position);
  return ok({ version: services.vault.currentVersion, outdated, next });
};
