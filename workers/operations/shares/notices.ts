// Mails to persons that the clock causes: a share is about to end, or a business has let its deadline pass.
import { groupsOf } from "../../../core/shares/fields.ts";
import { dayMs, type Instant } from "../../../core/time.ts";
import { businessIdentity } from "../../../storage/accounts.ts";
import { batch, type Database, type Statement } from "../../../storage/database.ts";
import { claimNotices, deleteNotice, type ShareNotice } from "../../../storage/share-notices.ts";
import { changeableShare, type ChangeableShare } from "../../../storage/shares.ts";
import type { Runtime, Schedules, Stores } from "../../services.ts";
import { mailTo, stopUrl } from "./mails.ts";

/** None for a share that is in another state by now. */
const noticeMail = async (
  services: Runtime & Stores,
  db: Database,
  { kind }: ShareNotice,
  { share, consumerId, language }: ChangeableShare,
): Promise<readonly Statement[]> => {
  const now = services.clock();
  if (consumerId === null) return [];
  if (kind === "expiring") {
    if (share.status !== "active") return [];
    return mailTo(services, db, consumerId, {
      template: "share_expiring",
      language,
      data: {
        business_name: share.business.name,
        groups: groupsOf(share.scope),
        until: share.expiresAt,
        is_tomorrow: share.expiresAt - now <= dayMs,
        renew_url: `${services.config.appUrl}/app/shares/${share.id}/renew`,
        stop_url: await stopUrl(services, share.id),
      },
    });
  }
  if (share.status !== "revoked") return [];
  const { contact } = await businessIdentity(db, share.business.id);
  return mailTo(services, db, consumerId, {
    template: "share_overdue",
    language,
    data: {
      share_id: share.id,
      business_name: share.business.name,
      at: share.revokedAt as Instant,
      cease_by: share.ceaseBy as Instant,
      contact,
    },
  });
};

const page = 50;
const maxPages = 40; // 2,000 mails a minute

/** The mail and the end of the notice are one batch. */
export const writeNotices = async (services: Runtime & Stores & Pick<Schedules, "scheduleMail">, db: Database): Promise<void> => {
  for (let done = 0; done < maxPages; done += 1) {
    const notices = await claimNotices(db, services.clock(), page);
    await Promise.all(
      notices.map(async (notice) => {
        const found = await changeableShare(db, notice.shareId, "link", services.clock());
        const mail = found === null ? [] : await noticeMail(services, db, notice, found);
        await batch(db, [...mail, deleteNotice(db, notice)]);
      }),
    );
    if (notices.length > 0) services.scheduleMail();
    if (notices.length < page) return;
  }
};
