// Continues withdrawals that cover all of a person's certificates with a business and did not fit into one batch.
import type { ShardId } from "../../../core/ids.ts";
import { sourceFromPerson, sourceFromBusiness, type WithdrawalSource } from "../../../core/withdrawals/withdrawal.ts";
import type { Database } from "../../../storage/database.ts";
import {
  finishWithdrawalWork,
  continueWithdrawalWork,
  insertWithdrawalWork,
  markWorkSpread,
  type WithdrawalWork,
} from "../../../storage/outboxes/withdrawal-work.ts";
import { findRecordedWithdrawal, listActiveWithAddress } from "../../../storage/withdrawals.ts";
import { runIsolated } from "../../log.ts";
import type { Stores } from "../dependencies.ts";
import { queryIssuingShards } from "../query-issuing-shards.ts";
import { getNextCheckAt, mayHaveWaitingCertificates } from "../intake/waiting-certificates.ts";
import type { WithdrawalDependencies } from "./dependencies.ts";
import { maxPerBatch, commitWithdrawals } from "./commit-withdrawals.ts";

const loadWithdrawalChange = async ({ shards, vault }: Stores, work: WithdrawalWork): Promise<WithdrawalSource> => {
  if (work.method !== "business_recorded") return sourceFromPerson(work.method);
  const recorded = await findRecordedWithdrawal(shards.forId(work.certId), vault, work);
  if (recorded === null || work.apiKeyId === null) throw new Error("withdrawals: the recorded request of this work is missing");
  return sourceFromBusiness(recorded, work.apiKeyId);
};

/**
 * Adds the work to every shard that has certificates of the business. Adding it twice does no harm, because only active certificates are
 * withdrawn. Returns false if a shard did not respond.
 */
const spreadWork = async (services: WithdrawalDependencies, db: Database, work: WithdrawalWork): Promise<boolean> => {
  const isSpread = await runIsolated(services, "withdrawal", async () => {
    await queryIssuingShards(services, work.businessId, (shard) => insertWithdrawalWork(shard, { ...work, forAllShards: false }).run());
    await markWorkSpread(db, work.certId).run();
    return true;
  });
  return isSpread === true;
};

/**
 * Withdraws the next batch. The last batch also deletes the outbox row, unless a certificate may still be in a journal. If one of the
 * business's shards does not respond, still withdraws the certificates in this shard. In that case, the work is repeated after its lease
 * ends.
 */
export const continueWithdrawals = async (
  services: WithdrawalDependencies,
  db: Database,
  shard: ShardId,
  work: WithdrawalWork,
): Promise<void> => {
  const { certId, issuedUntil } = work;
  const isSpread = !work.forAllShards || (await spreadWork(services, db, work));
  const mayWait = await mayHaveWaitingCertificates(services, shard, work);
  const certificates = await listActiveWithAddress(db, work, maxPerBatch);
  const isLast = certificates.length < maxPerBatch;
  const now = services.clock();
  const next =
    isLast && !mayWait
      ? finishWithdrawalWork(db, certId)
      : continueWithdrawalWork(db, certId, isLast ? getNextCheckAt(issuedUntil, now) : now);
  if (certificates.length === 0) {
    if (isSpread) await next.run();
    return;
  }
  // Use the time of the request instead of the time of this batch, because consent ended with the request.
  const change = { change: await loadWithdrawalChange(services, work), scope: "business", now: issuedUntil } as const;
  await commitWithdrawals(services, db, certificates, change, { after: isSpread ? [next] : [] });
};
