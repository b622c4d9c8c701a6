// Emails notices to the owners of businesses. Owners get the first notice of a kind immediately, and then at most one email of this kind
// per hour by default. If several notices are waiting, that email is a digest. The database stores waiting notices, so a crash only delays
// them.
import { chooseOwnerEmail, countNoticeRecords } from "../../core/mail/owner-notices.ts";
import { batch, type Database } from "../../storage/database.ts";
import { listDueNotices, openNotice, reportNotices, type DueNotices } from "../../storage/owner-notices.ts";
import { listOwnerAddresses } from "../../storage/owners.ts";
import { shardOfId, type BusinessId, type ShardId } from "../../core/ids.ts";
import { runIsolated } from "../log.ts";
import { getNoticeSpacingMs } from "../operations/owner-notices.ts";
import type { Platform } from "../platform/platform.ts";

const noticesPerRead = 20;

const writeEmails = async (platform: Platform, db: Database, due: DueNotices, to: readonly string[]): Promise<void> => {
  const { vault } = platform;
  const now = platform.clock();
  const spacingMs = getNoticeSpacingMs(platform.config);
  const email = chooseOwnerEmail(due, spacingMs);
  if (email.kind === "digest") {
    const mail = { template: "owner_digest", data: email.data } as const;
    await batch(db, await reportNotices(db, vault, due, { mail, to, now, left: null }));
    return;
  }
  const notice = await openNotice(vault, due, email.kind === "first" ? "firstSealed" : "lastSealed");
  const remaining =
    email.kind === "only" ? null : { notices: due.notices - 1, records: due.records - countNoticeRecords(notice), dueAt: now + spacingMs };
  await batch(db, await reportNotices(db, vault, due, { mail: notice, to, now, left: remaining }));
};

/**
 * Lists the owners' addresses. The account's shard stores the members, and it can differ from the shard of the notices. For a shard that
 * fails or does not respond, `addresses` is null. Leaves out addresses that cannot be decrypted, and logs the errors.
 */
const listAddresses = (platform: Platform, ids: readonly BusinessId[]) =>
  Promise.all(
    [...Map.groupBy(ids, shardOfId)].map(async ([shard, ofShard]) => {
      const addresses = await runIsolated(platform, "owner addresses", () =>
        listOwnerAddresses(
          platform.shards.get(shard),
          (context, sealed) => runIsolated(platform, "owner address", () => platform.vault.open(context, sealed)),
          ofShard,
        ),
      );
      return { shard, addresses: addresses ?? null };
    }),
  );

/**
 * Writes the emails for one shard's due notices to the mail outbox, within the work budget. A notice waits, without delaying others, if the
 * shard of the business's account does not respond, or if the notice or all of the owners' addresses cannot be decrypted.
 */
export const writeOwnerEmails = async (platform: Platform, db: Database): Promise<void> => {
  const silent: ShardId[] = [];
  let unsent = 0; // the number of notices that stay due; the next read skips them
  while (await platform.hasBudget()) {
    const due = await listDueNotices(db, platform.clock(), { max: noticesPerRead, skip: unsent, except: silent });
    if (due.length === 0) return;
    const found = await listAddresses(platform, [...new Set(due.map(({ businessId }) => businessId))]);
    silent.push(...found.flatMap(({ shard, addresses }) => (addresses === null ? [shard] : [])));
    const owners = new Map(found.flatMap(({ addresses }) => [...(addresses ?? [])]));
    for (const notices of due) {
      if (silent.includes(shardOfId(notices.businessId))) continue;
      const to = owners.get(notices.businessId); // null: the business has owners, but no readable address
      const isWritten =
        to !== null &&
        (await runIsolated(platform, "owner email", async () => {
          await writeEmails(platform, db, notices, to ?? []);
          return true;
        }));
      if (isWritten !== true) unsent += 1;
    }
    if (due.length < noticesPerRead) return;
  }
};
