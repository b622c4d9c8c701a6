import type { Person } from "../../../core/access/principal.ts";
import { withRecordedTime } from "../../../core/domain-events.ts";
import { shardOfId } from "../../../core/ids.ts";
import type { MailLanguage } from "../../../core/mail/templates.ts";
import type { GrantingClient, PreparedShare } from "../../../core/shares/grant.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { insertShare } from "../../../storage/share-changes.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import { computeContactIndexes } from "../consumers/compute-contact-indexes.ts";
import { recordShareIntent } from "./record-share-intent.ts";
import { settleShareIntent } from "./settle-share-intents.ts";
import { prepareShareReceiptMail } from "./share-mails.ts";

export type GrantServices = ShareWriteDependencies;

/** What a new share is made of besides what was decided. */
export interface ShareCreation {
  readonly client: GrantingClient;
  readonly person: Person | null;
  /** Of the fields that it was decided on. */
  readonly revision: number;
  readonly language: MailLanguage;
  readonly requestId: string;
  readonly written: Instant;
}

/** A share and all that belongs to it as one batch, with rows of the change that comes before it and that names it. */
export const commitShare = async (
  services: GrantServices,
  db: Database,
  prepared: PreparedShare,
  { revision, written, ...of }: ShareCreation,
  { before, after }: { readonly before: readonly Statement[]; readonly after: readonly Statement[] },
): Promise<void> => {
  const { vault, signer } = services;
  const { share } = prepared;
  const { person, language } = of;
  const isSameHome = person === null || shardOfId(person.id) === shardOfId(share.id);
  const [value, indexes, homes, mail] = await Promise.all([
    signer.sign(prepared.canonical),
    computeContactIndexes(services, prepared.fields),
    person === null ? [] : recordShareIntent(services, db, person, share.id),
    person === null ? [] : prepareShareReceiptMail(services, db, person, share, language),
  ]);
  const signature = { kid: signer.kid, alg: "Ed25519", value } as const;
  const rows = await insertShare(db, vault, { prepared, ...of, fields: { revision, isSameHome }, indexes, signature });
  await commit(db, services, [...homes, ...before, ...rows, ...after, ...mail], [withRecordedTime(prepared.domainEvent, written)]);
  if (person !== null && !isSameHome) await settleShareIntent(services, person.id, share.id, revision);
  services.scheduleMail();
};
