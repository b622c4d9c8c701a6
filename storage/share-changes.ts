// The statements that grant a share or change its state. They check that the share still has the state that the caller has read. Otherwise,
// they set `changed_by` to NULL, which makes the batch fail (`isOutdatedShare`). SPEC Share.
import { eq, gt, inArray, isNull, sql, type SQL } from "drizzle-orm";
import { toStoredIndex } from "../core/access/address-index.ts";
import { toBase64Url } from "../core/bytes.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import type { StorageLimits } from "../core/access/storage-limits.ts";
import type { IssuerSignature } from "../core/certificates/published-certificate.ts";
import type { ClientId, ConsumerId, ShardId, ShareId } from "../core/ids.ts";
import type { Language } from "../core/language.ts";
import { computeNextDueAt } from "../core/shares/due-dates.ts";
import type { ShareRevocation } from "../core/shares/revocation.ts";
import type { ContactFields, ContactIndexes } from "../core/shares/fields.ts";
import type { ShareGrant, GrantingClient, PreparedShare } from "../core/shares/grant.ts";
import type { Person } from "../core/access/principal.ts";
import type { Share } from "../core/shares/share.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { CeaseDetails } from "../core/withdrawals/cease-acknowledgment.ts";
import { codeLifetimeMs } from "../core/shares/request.ts";
import { unchangedBusinessId } from "./accounts.ts";
import { insertDisclosure } from "./issuances.ts";
import { parseContactFields, serializeContactFields, unchangedFieldsRevision } from "./contact-fields.ts";
import type { Database, Statement } from "./database.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { isTriggerError, isConstraintViolation } from "./faults.ts";
import { countStoredRecord } from "./record-usage.ts";
import { allOf, countIn, existsIn, jsonList } from "./query.ts";
import { shareCodes, consumerShards, shareAcknowledgements, shareIntents, shares, shareValues } from "./schema.ts";
import { shareCopyContext } from "./share-values.ts";
import { columnContext, type Vault } from "./vault.ts";

/** Returns true if the batch failed because the account or the person's fields have changed since they were read. */
export const isOutdatedGrant = (error: unknown): boolean =>
  isConstraintViolation(error, "NOT NULL", shares.businessId) || isConstraintViolation(error, "NOT NULL", shares.fieldsRevision);

/** Returns true if the batch failed because the share no longer has the state that the caller has read. */
export const isOutdatedShare = (error: unknown): boolean =>
  isConstraintViolation(error, "NOT NULL", shares.changedBy) || isTriggerError(error, "a share cannot return to an earlier state");

/** The maximum number of a person's active shares with one business. It is limited because each share causes events and emails. */
const maxActiveShares = 100;
/** The maximum number of a person's active shares in one shard. It is limited because a changed field must be written to each of them. */
const maxSharesOfPerson = 1_000;

/** Selects the client ID for a new share. If the person has reached one of the limits, the ID is NULL, which makes the insert fail. */
const clientIdBelowLimit = ({ clientId, business, createdAt }: Share, person: ConsumerId) => {
  const isActive = [eq(shares.consumerId, person), sql`${shares.state} = 'active'`, gt(shares.expiresAt, createdAt)] as const;
  const withBusiness = countIn(shares, ...isActive, eq(shares.businessId, business.id));
  return sql<ClientId>`iif(${withBusiness} < ${maxActiveShares} and ${countIn(shares, ...isActive)} < ${maxSharesOfPerson}, ${clientId}, null)`;
};

/** Returns true if the batch failed because the person has 100 active shares with the business or 1,000 in this shard. */
export const isShareLimitReached = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", shares.clientId);

// The owner in `subjectContext` is the person. In the other two contexts, it is the business, which can read these values.
const subjectContext = columnContext("shares", "subject");
const reasonContext = columnContext("shares", "reason");
const detailsContext = columnContext("share_acknowledgements", "details");

interface NewShare {
  readonly prepared: PreparedShare;
  readonly client: Pick<GrantingClient, "business" | "revision">;
  /** The person who grants the share, or null for a test person. */
  readonly person: Person | null;
  /**
   * The revision of the person's fields that the caller has read. The insert checks the revision only if the fields are in the same shard.
   */
  readonly fields: { readonly revision: number; readonly isSameShard: boolean };
  readonly indexes: ContactIndexes;
  readonly signature: IssuerSignature;
  readonly language: Language;
  readonly requestId: string;
  /** The real time, even if the sandbox clock was moved. */
  readonly writtenAt: Instant;
  readonly storageLimits: StorageLimits;
}

/**
 * Returns the statements that store a new share with a copy of the values. The copy is sealed with a key that only this share uses. The
 * batch fails if the account or the person's fields have changed since they were read (`isOutdatedGrant`), or if a limit is reached
 * (`isShareLimitReached`, `isStorageLimitReached`).
 */
export const insertShare = async (db: Database, vault: Vault, newShare: NewShare): Promise<readonly Statement[]> => {
  const { prepared, client, person, fields, indexes, signature, language, requestId, writtenAt, storageLimits } = newShare;
  const { share, rootSalt } = prepared;
  const { id, business } = share;
  const values = serializeContactFields(prepared.fields);
  const keySealed = await vault.newRecordKey();
  const [valuesSealed, subjectSealed] = await Promise.all([
    vault.withRecordKey(keySealed).then((sealer) => sealer.seal(shareCopyContext(id, business.id), values)),
    person === null
      ? null
      : vault.seal(subjectContext(id, person.id), toCanonicalJson({ root_salt: toBase64Url(rootSalt), fields: values })),
  ]);
  const usage = {
    owner: person === null ? ({ kind: "sandbox", id: business.id } as const) : ({ kind: "person", id: person.id } as const),
    now: writtenAt,
    ownBytes: valuesSealed.length + (subjectSealed?.length ?? 0) + keySealed.length + share.purpose.length,
    disclosure: { hash: share.disclosureHash, bytes: prepared.disclosureText.length },
  };
  return [
    countStoredRecord(db, usage, storageLimits[usage.owner.kind]),
    insertDisclosure(db, { hash: share.disclosureHash, text: prepared.disclosureText, environment: share.environment }),
    db.insert(shares).values({
      ...share,
      businessId: unchangedBusinessId(client),
      businessName: business.name,
      clientId: person === null ? share.clientId : clientIdBelowLimit(share, person.id),
      consumerId: person?.id ?? null,
      consumerChain: person?.chain.tag ?? null,
      nextDueAt: computeNextDueAt(share, share.createdAt),
      fieldsRevision: person !== null && fields.isSameShard ? unchangedFieldsRevision(person.id, fields.revision) : fields.revision,
      subjectHash: prepared.subjectHash,
      subjectSealed,
      signature: signature.value,
      signatureKid: signature.kid,
      keySealed,
      emailIndex: indexes.email && toStoredIndex(indexes.email),
      phoneIndex: indexes.phone && toStoredIndex(indexes.phone),
      emailProven: indexes.isEmailProven,
      language,
      changedBy: requestId,
      storedAt: writtenAt,
    }),
    db.insert(shareValues).values({ shareId: id, valuesSealed, revision: fields.revision }),
  ];
};

/** Returns the values at the time of the grant. Show them only to the person. */
export const openGrantedFields = async (vault: Vault, id: ShareId, consumerId: ConsumerId, sealed: string): Promise<ContactFields> => {
  const { fields } = JSON.parse(await vault.open(subjectContext(id, consumerId), sealed)) as { readonly fields: string };
  return parseContactFields(fields);
};

/**
 * Inserts the authorization code of a grant. The batch fails if the request was already decided (`isAlreadyDecided`). SPEC Authorization
 * code.
 */
export const insertShareCode = (
  db: Database,
  { share, verifiedOrigin }: ShareGrant,
  code: {
    readonly codeHash: string;
    readonly requestHash: string;
    readonly challenge: string;
    readonly requireOrigin: boolean;
    /** The real time, so that moving the sandbox clock does not extend the code's lifetime. */
    readonly createdAt: Instant;
  },
) =>
  db.insert(shareCodes).values({
    ...code,
    shareId: share.id,
    clientId: share.clientId,
    businessId: share.business.id,
    origin: share.origin,
    domainId: verifiedOrigin.domainId,
    expiresAt: code.createdAt + codeLifetimeMs,
  });

/**
 * Records in the person's shard that the person can have shares in `shard`. Run it before the first share is inserted there, or in the same
 * batch.
 */
export const insertConsumerShard = (db: Database, consumerId: ConsumerId, shard: ShardId) =>
  db.insert(consumerShards).values({ consumerId, shard }).onConflictDoNothing();

const intentLeaseMs = minuteMs; // longer than a grant takes, so that a job does not process the intent while the grant is in progress

/**
 * Saves an intent in the person's shard: a record that a grant in another shard is in progress. Run it before the share is written. The
 * person can change fields during the grant, so the batch that deletes the intent also schedules an update of the share.
 */
export const insertShareIntent = (db: Database, shareId: ShareId, consumerId: ConsumerId, now: Instant) =>
  db.insert(shareIntents).values({ shareId, consumerId, nextAt: now + intentLeaseMs });

/** Claims the intent that has been due for the longest time. The claim lasts for one minute. Returns null if no intent is due. */
export const claimShareIntent = async (db: Database, now: Instant) =>
  (await claimDueRows(db, shareIntents, { now, leaseMs: intentLeaseMs, max: 1 }))[0] ?? null;

export const deleteShareIntent = (db: Database, shareId: ShareId) => db.delete(shareIntents).where(eq(shareIntents.shareId, shareId));

const endedFields = { keySealed: null, nextDueAt: null } as const;
const requestIdIf = (condition: SQL, requestId: string): SQL<string> => sql<string>`case when ${condition} then ${requestId} end`;
const isActiveShare = (now: Instant): SQL => sql`${shares.state} = 'active' and ${shares.expiresAt} > ${now}`;

type RevocationDeadline = Pick<ShareRevocation, "revokedAt" | "ceaseBy">;
const revokedFields = ({ revokedAt, ceaseBy }: RevocationDeadline, requestId: string, condition = isActiveShare(revokedAt)) =>
  ({ ...endedFields, state: "revoked", revokedAt, ceaseBy, changedBy: requestIdIf(condition, requestId) }) as const;

/** Returns the statements that revoke a share. The batch fails if the share is no longer active (`isOutdatedShare`). */
export const updateShareRevoked = async (
  db: Database,
  vault: Vault,
  share: Share,
  revocation: RevocationDeadline,
  { reason, requestId }: { readonly reason: string | null; readonly requestId: string },
): Promise<readonly Statement[]> => {
  const reasonSealed = reason === null ? null : await vault.seal(reasonContext(share.id, share.business.id), reason);
  return [
    db
      .update(shares)
      .set({ ...revokedFields(revocation, requestId), reasonSealed })
      .where(eq(shares.id, share.id)),
  ];
};

/** Revokes several shares without a reason. Fails if one of them is no longer active (`isOutdatedShare`). */
export const updateSharesRevoked = (db: Database, ids: readonly ShareId[], revocation: RevocationDeadline, requestId: string) =>
  db
    .update(shares)
    .set(revokedFields(revocation, requestId))
    .where(inArray(shares.id, jsonList(ids)));

/** Revokes a sandbox's shares, including those that have expired by the sandbox clock but are still recorded as active. */
export const updateTestSharesRevoked = (db: Database, ids: readonly ShareId[], revocation: RevocationDeadline, requestId: string) =>
  db
    .update(shares)
    .set(revokedFields(revocation, requestId, eq(shares.state, "active")))
    .where(allOf(inArray(shares.id, jsonList(ids)), eq(shares.environment, "sandbox")));

/** Marks a share as replaced by its renewal. Fails if the share is no longer active (`isOutdatedShare`). */
export const updateShareSuperseded = (db: Database, old: ShareId, successor: ShareId, now: Instant, requestId: string) =>
  db
    .update(shares)
    .set({ ...endedFields, state: "superseded", supersededBy: successor, changedBy: requestIdIf(isActiveShare(now), requestId) })
    .where(eq(shares.id, old));

/**
 * Returns the statements that acknowledge a revocation. The batch fails if the share is not `revoked` (`isOutdatedShare`). If the person's
 * account is erased, the details are not stored.
 */
export const updateShareCeased = async (
  db: Database,
  vault: Vault,
  share: Share,
  details: CeaseDetails,
  { now, requestId }: { readonly now: Instant; readonly requestId: string },
): Promise<readonly Statement[]> => {
  const sealed = await vault.seal(detailsContext(share.id, share.business.id), JSON.stringify(details));
  const isErased = existsIn(shares, eq(shares.id, share.id), eq(shares.environment, "live"), isNull(shares.consumerId));
  const detailsSealed = sql<string>`case when ${isErased} then '' else ${sealed} end`;
  return [
    db
      .update(shares)
      .set({ state: "ceased", changedBy: requestIdIf(sql`${shares.state} = 'revoked'`, requestId) })
      .where(eq(shares.id, share.id)),
    db.insert(shareAcknowledgements).values({ shareId: share.id, acknowledgedAt: now, detailsSealed }),
  ];
};

export const openRevocationReason = async (
  vault: Vault,
  share: Pick<Share, "id" | "business">,
  sealed: string | null,
): Promise<string | null> => (sealed === null ? null : vault.open(reasonContext(share.id, share.business.id), sealed));

export const openAcknowledgementNote = async (
  vault: Vault,
  share: Pick<Share, "id" | "business">,
  sealed: string | null,
): Promise<string | null> =>
  sealed === null ? null : (JSON.parse(await vault.open(detailsContext(share.id, share.business.id), sealed)) as CeaseDetails).note;
