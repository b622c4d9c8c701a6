// Writes a new share.
import type { Person } from "../../../core/access/principal.ts";
import { storageLimitMessages } from "../../../core/access/storage-limits.ts";
import { withRecordedTime } from "../../../core/domain-events.ts";
import { shardOfId } from "../../../core/ids.ts";
import type { Language } from "../../../core/language.ts";
import { ok, refuse, type Result } from "../../../core/result.ts";
import type { ContactFields } from "../../../core/shares/fields.ts";
import type { GrantingClient, PreparedShare } from "../../../core/shares/grant.ts";
import type { Instant } from "../../../core/time.ts";
import { commit } from "../../../storage/commit.ts";
import type { Database, Statement } from "../../../storage/database.ts";
import { isStorageLimitReached } from "../../../storage/record-usage.ts";
import { insertShare } from "../../../storage/share-changes.ts";
import type { ShareWriteDependencies } from "./dependencies.ts";
import { computeContactIndexes } from "../consumers/compute-contact-indexes.ts";
import { loadEmailIndex } from "../consumers/load-email-index.ts";
import type { FieldsWrite } from "../consumers/prepare-fields-update.ts";
import { recordShareIntent } from "./record-share-intent.ts";
import { settleShareIntent } from "./settle-share-intents.ts";
import { prepareShareReceiptMail } from "./share-mails.ts";

export interface ShareCreation {
  readonly client: GrantingClient;
  readonly person: Person | null;
  /** All of the person's contact fields, including those outside the scope. */
  readonly fields: ContactFields;
  /** The revision of `fields`. */
  readonly revision: number;
  /**
   * A change to the contact fields that belongs to the grant; null if there is none. If the person's account is in another shard, the
   * change is committed there before the share.
   */
  readonly fieldsWrite: FieldsWrite | null;
  readonly language: Language;
  readonly requestId: string;
  readonly writtenAt: Instant;
}

/**
 * Writes the share with its values, event, signature and receipt email in one transaction. The statements in `before` and `after` run
 * before and after those of the share. If the person's account is in another shard, first writes an intent there and settles it afterward.
 * Returns `rate_limited` if a storage limit is reached. Throws an error that `isOutdatedGrant` recognizes if the client or contact fields
 * have changed since they were loaded.
 */
export const commitShare = async (
  services: ShareWriteDependencies,
  db: Database,
  prepared: PreparedShare,
  { fields, revision, fieldsWrite, writtenAt, ...creation }: ShareCreation,
  { before = [], after = [] }: { readonly before?: readonly Statement[]; readonly after?: readonly Statement[] },
): Promise<Result<true, "rate_limited">> => {
  const { vault, signer } = services;
  const { share } = prepared;
  const { person, language } = creation;
  const isSameShard = person === null || shardOfId(person.id) === shardOfId(share.id);
  // A phone number without a country code can be normalized only with the person's country, so use the country even if it is not shared.
  const indexedFields = { ...prepared.fields, ...(fields.country !== undefined && { country: fields.country }) };
  const [value, indexes, intent, mail] = await Promise.all([
    signer.sign(prepared.canonical),
    (person === null ? Promise.resolve("test person" as const) : loadEmailIndex(services, person)).then((ownIndex) =>
      computeContactIndexes(services, indexedFields, ownIndex),
    ),
    person === null ? [] : recordShareIntent(services, db, person, share.id, fieldsWrite),
    person === null ? [] : prepareShareReceiptMail(services, db, person, share, language),
  ]);
  const signature = { kid: signer.kid, alg: "Ed25519", value } as const;
  const statements = await insertShare(db, vault, {
    prepared,
    ...creation,
    writtenAt,
    storageLimits: services.config.storageLimits,
    fields: { revision, isSameShard },
    indexes,
    signature,
  });
  try {
    await commit(
      db,
      services,
      [...intent, ...before, ...statements, ...after, ...mail],
      [...(isSameShard && fieldsWrite !== null ? [fieldsWrite.domainEvent] : []), withRecordedTime(prepared.domainEvent, writtenAt)],
    );
  } catch (error) {
    if (!isStorageLimitReached(error)) throw error;
    return refuse("rate_limited", storageLimitMessages[person === null ? "sandbox" : "person"]);
  }
  fieldsWrite?.continueAfterCommit();
  if (person !== null && !isSameShard) await settleShareIntent(services, person.id, share.id, revision);
  services.scheduleMail();
  return ok(true);
};
