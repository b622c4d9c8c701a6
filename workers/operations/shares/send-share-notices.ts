// Mails to persons that the clock causes: a share is about to end, or a business has let its deadline pass.
import { shardOfId, type ConsumerId } from "../../../core/ids.ts";
import type { TemplatedMail } from "../../../core/mail/templates.ts";
import { groupsFromKeys } from "../../../core/shares/fields.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
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

/** None for a share that is in another state by now. */
const buildNoticeMail = async (
  services: ReadDependencies,
  { kind }: ShareNotice,
  share: NoticedShare,
  now: Instant,
): Promise<TemplatedMail | null> => {
  if (kind === "expiring") {
    if (share.status !== "active") return null;
    return {
      template: "share_expiring",
      data: {
        businessName: share.businessName,
        groups: groupsFromKeys(share.scope),
        until: share.expiresAt,
        isTomorrow: share.expiresAt - now <= dayMs,
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

/** One query for each home in which people of the page have their accounts; one that does not answer fails for its own people. */
const loadSealedAddresses = (services: Stores, ids: readonly ConsumerId[]): AddressLookup => {
  const found = new Map(
    [...Map.groupBy(new Set(ids), (id) => shardOfId(id))].map(
      ([home, there]) => [home, listSealedAddresses(services.shards.forId(`con_${home}`), there)] as const,
    ),
  );
  return async (id) => (await found.get(shardOfId(id)))?.get(id);
};

/** The mails and the end of the notices are one batch. A notice that cannot be written stays for another minute, and alone. */
const writeNoticeBatch = async (services: ReadDependencies, db: Database, notices: readonly ShareNotice[]): Promise<void> => {
  const now = services.clock();
  const byId = new Map((await listNoticedShares(db, notices, now)).map((share) => [share.id, share]));
  const addressOf = loadSealedAddresses(
    services,
    [...byId.values()].flatMap(({ consumerId }) => consumerId ?? []),
  );
  // What became of a notice: the mail to write, or none where nobody is to be written to.
  const settle = async (notice: ShareNotice) => {
    const share = byId.get(notice.shareId);
    const consumerId = share?.consumerId ?? null;
    const address = consumerId === null ? undefined : await addressOf(consumerId);
    const words = share === undefined || address === undefined ? null : await buildNoticeMail(services, notice, share, now);
    if (share === undefined || consumerId === null || address === undefined || words === null) return { notice, mail: null };
    const to = await services.vault.open(consumerEmailContext(consumerId), address);
    return { notice, mail: await sealMail(services.vault, { ...words, to, consumerId, language: share.language, now }) };
  };
  const settled = await Promise.all(notices.map((notice) => runIsolated(services, "share notice", () => settle(notice))));
  const done = settled.filter((one) => one !== undefined);
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

/** Until none is due or the allowance is used up: how many it looked at. */
export const sendShareNotices = async (services: ReadDependencies, db: Database): Promise<number> => {
  let looked = 0;
  while (await services.hasBudget()) {
    const notices = await claimShareNotices(db, services.clock(), batchSize);
    if (notices.length > 0) await writeNoticeBatch(services, db, notices);
    looked += notices.length;
    if (notices.length < batchSize) break;
  }
  return looked;
};
