// Background job: emails people when a share is about to expire or a business misses its cease deadline.
import { shardOfId, type ConsumerId } from "../../../core/ids.ts";
import type { TemplatedMail } from "../../../core/mail/templates.ts";
import { groupsFromKeys } from "../../../core/shares/fields.ts";
import type { Instant } from "../../../core/time.ts";
import { batch, type Database } from "../../../storage/database.ts";
import { insertMails, sealMail } from "../../../storage/outboxes/mail.ts";
import { consumerEmailContext } from "../../../storage/people-contexts.ts";
import { listSealedAddresses } from "../../../storage/people.ts";
import {
  claimShareNotices,
  deleteShareNotices,
  listNoticedShares,
  type NoticedShare,
  type ShareNotice,
} from "../../../storage/share-notices.ts";
import { runIsolated } from "../../log.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";
import { createRevokeUrl } from "./revoke-link.ts";

/** Builds the email for a notice. Returns null if the notice no longer applies, because the share's state has changed. */
const buildNoticeMail = async (services: ReadDependencies, { kind }: ShareNotice, share: NoticedShare): Promise<TemplatedMail | null> => {
  if (kind === "expiring") {
    if (share.status !== "active") return null;
    return {
      template: "share_expiring",
      data: {
        businessName: share.businessName,
        groups: groupsFromKeys(share.scope),
        until: share.expiresAt,
        renewUrl: `${services.config.appUrl}/app/shares/${share.id}/renew`,
        stopUrl: await createRevokeUrl(services, share.id),
      },
    };
  }
  if (share.status !== "revoked") return null;
  return {
    template: "share_overdue",
    data: {
      shareId: share.id,
      businessName: share.businessName,
      at: share.revokedAt as Instant,
      ceaseBy: share.ceaseBy as Instant,
      contact: share.contact,
    },
  };
};

type AddressLookup = (id: ConsumerId) => Promise<string | undefined>;

/** Loads the addresses with one query per shard. An unavailable shard affects only the people in that shard. */
const loadSealedAddresses = (services: Stores, ids: readonly ConsumerId[]): AddressLookup => {
  const found = new Map(
    [...Map.groupBy(new Set(ids), (id) => shardOfId(id))].map(
      ([shard, consumerIds]) => [shard, listSealedAddresses(services.shards.forId(`con_${shard}`), consumerIds)] as const,
    ),
  );
  return async (id) => (await found.get(shardOfId(id)))?.get(id);
};

/**
 * Writes the emails and deletes the notices in one transaction. A notice that fails is kept and retried after a minute. It does not delay
 * the others.
 */
const writeNoticeBatch = async (services: ReadDependencies, db: Database, notices: readonly ShareNotice[]): Promise<void> => {
  const now = services.clock();
  const byId = new Map((await listNoticedShares(db, notices, now)).map((share) => [share.id, share]));
  const addressOf = loadSealedAddresses(
    services,
    [...byId.values()].flatMap(({ consumerId }) => consumerId ?? []),
  );
  // If there is nothing to send, `mail` is null, and the notice is deleted without an email.
  const settle = async (notice: ShareNotice) => {
    const share = byId.get(notice.shareId);
    const consumerId = share?.consumerId ?? null;
    const address = consumerId === null ? undefined : await addressOf(consumerId);
    const content = share === undefined || address === undefined ? null : await buildNoticeMail(services, notice, share);
    if (share === undefined || consumerId === null || address === undefined || content === null) return { notice, mail: null };
    const to = await services.vault.open(consumerEmailContext(consumerId), address);
    return { notice, mail: await sealMail(services.vault, { ...content, to, consumerId, language: share.language, now }) };
  };
  const settled = await Promise.all(notices.map((notice) => runIsolated(services, "share notice", () => settle(notice))));
  const done = settled.filter((result) => result !== undefined);
  const mails = done.flatMap(({ mail }) => mail ?? []);
  await batch(db, [
    insertMails(db, mails),
    deleteShareNotices(
      db,
      done.map(({ notice }) => notice),
    ),
  ]);
};

const batchSize = 50;

/** Sends the due notices within the work budget. Returns the number of processed notices. */
export const sendShareNotices = async (services: ReadDependencies, db: Database): Promise<number> => {
  let noticeCount = 0;
  while (await services.hasBudget()) {
    const notices = await claimShareNotices(db, services.clock(), batchSize);
    if (notices.length > 0) await writeNoticeBatch(services, db, notices);
    noticeCount += notices.length;
    if (notices.length < batchSize) break;
  }
  return noticeCount;
};
