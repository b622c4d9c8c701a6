// Deletes test certificates and test shares that are older than 30 days, in every shard. Also deletes policy texts that no remaining
// certificate uses.
import { batch, type Database } from "../../storage/database.ts";
import {
  deleteTestCertificates,
  deleteTestShares,
  listExpiredTestCertificates,
  listExpiredTestShares,
} from "../../storage/sandbox-records.ts";
import { deletePolicyTexts, listDeletedPolicyTexts } from "../../storage/policies.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { takeBatch } from "./take-batch.ts";

const maxPerBatch = 200;
const maxTextsPerRun = 200; // deleting a text takes one call to KV, and an invocation can make 1,000 calls

const deleteInShard = async (platform: Platform, db: Database): Promise<void> => {
  while (await platform.hasBudget()) {
    const expired = takeBatch(await listExpiredTestCertificates(db, platform.clock(), maxPerBatch));
    if (expired.length === 0) break;
    await batch(db, deleteTestCertificates(db, expired));
  }
  while (await platform.hasBudget()) {
    const expired = await listExpiredTestShares(db, platform.clock(), maxPerBatch);
    if (expired.length === 0) break;
    await batch(db, deleteTestShares(db, expired));
  }
  if (!(await platform.hasBudget())) return;
  const texts = await listDeletedPolicyTexts(db, maxTextsPerRun);
  if (texts.length > 0) {
    await deletePolicyTexts(
      db,
      platform.kv,
      texts.map(({ snapshotId }) => snapshotId),
    );
  }
};

/** Deletes expired records, oldest first, until none are left or this run's budget is used up. The next minute's run continues. */
export const deleteExpiredTestRecords = (platform: Platform): Promise<void> =>
  forEachShard(platform, "sandbox", (db) => deleteInShard(platform, db));
