// Prepares emails about a share to the person and the business's owners.
import type { Person } from "../../../core/access/principal.ts";
import type { ConsumerId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { groupsFromKeys } from "../../../core/shares/fields.ts";
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";
import { getBusinessIdentity } from "../../../storage/accounts.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import type { ReadDependencies } from "../dependencies.ts";
import { prepareOwnerNotice } from "../owner-notices.ts";
import { prepareMailToPerson } from "./mail-to-person.ts";
import { createRevokeUrl } from "./revoke-link.ts";

/** Prepares the email that confirms a new share to the person. It includes the link to revoke the share. */
export const prepareShareReceiptMail = async (
  services: ReadDependencies,
  db: Database,
  person: Pick<Person, "id">,
  share: Share,
  language: Language,
): Promise<readonly Statement[]> =>
  prepareMailToPerson(services, db, person.id, {
    template: "share_receipt",
    language,
    data: {
      businessName: share.business.name,
      groups: groupsFromKeys(share.scope),
      until: share.expiresAt,
      host: new URL(share.origin).host,
      purpose: share.purpose,
      stopUrl: await createRevokeUrl(services, share.id),
      appUrl: `${services.config.appUrl}/app`,
    },
  });

/** Who ended a share: the person who made it, or the owner of the email address in it, which can be someone else. */
export type StoppedBy = "person" | "address_owner";

/**
 * Prepares the email to the person and the notice to the owners after a revocation. The notice contains the share ID and the deadline, but
 * no personal data.
 */
export const prepareRevocationMails = async (
  services: ReadDependencies,
  db: Database,
  consumerId: ConsumerId | null,
  share: Share,
  ended: { readonly at: Instant; readonly ceaseBy: Instant; readonly language: Language; readonly stoppedBy: StoppedBy },
): Promise<readonly Statement[]> => {
  const data = { shareIds: [share.id], ceaseBy: ended.ceaseBy };
  const [toOwners, { contact }] = await Promise.all([
    prepareOwnerNotice(services, db, share.business.id, { template: "share_owner_notice", data }),
    getBusinessIdentity(db, share.business.id),
  ]);
  const toPerson = await prepareMailToPerson(services, db, consumerId, {
    template: "share_stopped",
    language: ended.language,
    data: {
      shareId: share.id,
      businessName: share.business.name,
      groups: groupsFromKeys(share.scope),
      by: ended.stoppedBy,
      at: ended.at,
      ceaseBy: ended.ceaseBy,
      contact,
      appUrl: `${services.config.appUrl}/app/shares/${share.id}`,
    },
  });
  return [...toOwners, ...toPerson];
};

/** Prepares the email that tells the person that the business has stopped contact. */
export const prepareAcknowledgementMail = (
  services: ReadDependencies,
  db: Database,
  consumerId: ConsumerId | null,
  share: Share,
  ceased: { readonly at: Instant; readonly note: string | null; readonly language: Language },
): Promise<readonly Statement[]> =>
  prepareMailToPerson(services, db, consumerId, {
    template: "share_ceased",
    language: ceased.language,
    data: {
      shareId: share.id,
      businessName: share.business.name,
      at: ceased.at,
      ceaseBy: share.ceaseBy as Instant,
      note: ceased.note,
    },
  });
