// What the person and the owners of a business are written about a share. The link that stops a share carries a token made from the
// key of the service and the share's id, so it is stored nowhere; it is behind the `#`, which no server is sent.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerId, ShareId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import { groupsOf } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { businessIdentity } from "../../../storage/accounts.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertMail, type MailToSend } from "../../../storage/outboxes/mail.ts";
import { ownerMails } from "../../../storage/owners.ts";
import { consumerAddress } from "../../../storage/people.ts";
import type { Runtime, Stores } from "../../services.ts";

/** Proves that somebody holds the mail of a grant. */
export const revokeToken = ({ vault }: Stores, id: ShareId): Promise<string> => vault.linkToken(`share\n${id}`);

export const stopUrl = async (services: Runtime & Stores, id: ShareId): Promise<string> =>
  `${services.config.appUrl}/stop/${id}#t=${await revokeToken(services, id)}`;

/** The rows of a mail to a person, wherever they have their account; none for one who is gone, and for a test person. */
export const mailTo = async (
  services: Runtime & Stores,
  db: Database,
  id: ConsumerId | null,
  mail: Omit<MailToSend, "to" | "now" | "consumerId">,
): Promise<readonly Statement[]> => {
  if (id === null) return [];
  const to = await consumerAddress(services.homes.of(id), services.vault, id);
  return to === null ? [] : insertMail(db, services.vault, { ...mail, to, consumerId: id, now: services.clock() } as MailToSend);
};

export const receiptMail = async (
  services: Runtime & Stores,
  db: Database,
  person: Pick<Person, "id">,
  share: Share,
  language: MailLanguage,
): Promise<readonly Statement[]> =>
  mailTo(services, db, person.id, {
    template: "share_receipt",
    language,
    data: {
      business_name: share.business.name,
      groups: groupsOf(share.scope),
      until: share.expiresAt,
      host: new URL(share.origin).host,
      purpose: share.purpose,
      stop_url: await stopUrl(services, share.id),
      app_url: `${services.config.appUrl}/app`,
    },
  });

/** To the person; and to the owners, by number and deadline only. */
export const stoppedMails = async (
  services: Runtime & Stores,
  db: Database,
  consumerId: ConsumerId | null,
  share: Share,
  ended: { readonly at: Instant; readonly ceaseBy: Instant; readonly language: MailLanguage },
): Promise<readonly Statement[]> => {
  const { vault } = services;
  const now = services.clock();
  const data = { share_ids: [share.id], cease_by: ended.ceaseBy };
  const [toOwners, { contact }] = await Promise.all([
    ownerMails(db, vault, share.business.id, { template: "share_owner_notice", data, now }),
    businessIdentity(db, share.business.id),
  ]);
  const toPerson = await mailTo(services, db, consumerId, {
    template: "share_stopped",
    language: ended.language,
    data: {
      share_id: share.id,
      business_name: share.business.name,
      groups: groupsOf(share.scope),
      at: ended.at,
      cease_by: ended.ceaseBy,
      contact,
      app_url: `${services.config.appUrl}/app/shares/${share.id}`,
    },
  });
  return [...toOwners, ...toPerson];
};

export const ceasedMail = (
  services: Runtime & Stores,
  db: Database,
  consumerId: ConsumerId | null,
  share: Share,
  ceased: { readonly at: Instant; readonly note: string | null; readonly language: MailLanguage },
): Promise<readonly Statement[]> =>
  mailTo(services, db, consumerId, {
    template: "share_ceased",
    language: ceased.language,
    data: {
      share_id: share.id,
      business_name: share.business.name,
      at: ceased.at,
      cease_by: share.ceaseBy as Instant,
      note: ceased.note,
    },
  });
