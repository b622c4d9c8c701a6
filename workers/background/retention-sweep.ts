// Erases the personal data of certificates whose retention period has ended, in every shard, and logs the progress.
import { createErasureEvent } from "../../core/certificates/erasure.ts";
import type { ShardId } from "../../core/ids.ts";
import { toIsoOrNull } from "../../core/time.ts";
import { commitWithoutFollowUp } from "../../storage/commit.ts";
import { batch, type Database } from "../../storage/database.ts";
import { findDueErasures, eraseSubjects, countDueErasures, isAlreadyErased, updateBlocks } from "../../storage/certificate-erasures.ts";
import type { Platform } from "../platform/platform.ts";
import { forEachShard } from "./for-each-shard.ts";
import { takeBatch } from "./take-batch.ts";

const maxPerBatch = 500;

/** Erases due certificates until none are left or the budget is used up. Returns the number of erased certificates. */
const eraseDueCertificates = async (platform: Platform, db: Database): Promise<number> => {
  const now = platform.clock();
  let erased = 0;
  const waiting: number[] = []; // blocks of certificates that were read and contain nothing that can be erased yet
  while (await platform.hasBudget()) {
    const due = await findDueErasures(db, now, maxPerBatch, waiting);
    if (due.blocks.length === 0) break;
    const certificates = takeBatch(due.certificates);
    if (certificates.length === 0) {
      await batch(db, updateBlocks(db, due.blocks));
      waiting.push(...due.blocks);
      continue;
    }
    const certIds = certificates.map(({ id }) => id);
    const events = certificates.map((certificate) =>
      createErasureEvent(certificate, { reason: "retention_ended", actor: { kind: "system" }, now }),
    );
    try {
      await commitWithoutFollowUp(db, platform, [...eraseSubjects(db, certIds, now), ...updateBlocks(db, due.blocks)], events);
    } catch (error) {
      // Another sweep or an owner erased one of them first, so nothing was written. The next run continues.
      if (isAlreadyErased(error)) break;
      throw error;
    }
    erased += certificates.length;
  }
  return erased;
};

const eraseExpiredInShard = async (platform: Platform, db: Database, shard: ShardId): Promise<void> => {
  const erased = await eraseDueCertificates(platform, db);
  if (erased === 0) return;
  const { left, oldestDue } = await countDueErasures(db, platform.clock());
  platform.log.progress({ at: "retention", shard, done: erased, left, oldest_due: toIsoOrNull(oldestDue) });
};

/** Erases due certificates within this run's budget, and logs how many are left. Concurrent runs never erase a certificate twice. */
export const eraseExpired = (platform: Platform): Promise<void> =>
  forEachShard(platform, "retention", (db, shard) => eraseExpiredInShard(platform, db, shard));
