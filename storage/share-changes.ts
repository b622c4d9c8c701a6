// What changes a share: the rows of a grant and of each transition. A transition names the state it was decided on inside its own
// statement; when that has passed, `changed_by` is NULL, the batch is undone, and whoever asked decides again.
import { eq, inArray, sql, type SQL } from "drizzle-orm";
import { toBase64Url } from "../core/bytes.ts";
import { toCanonicalJson } from "../core/canonical-json.ts";
import type { IssuerSignature } from "../core/certificates/published-certificate.ts";
import type { ConsumerId, ShardId, ShareId } from "../core/ids.ts";
import type { MailLanguage } from "../core/mail/templates.ts";
import { computeNextDueAt } from "../core/shares/due-dates.ts";
import type { ShareRevocation } from "../core/shares/revocation.ts";
import type { ContactFields } from "../core/shares/fields.ts";
import type { ShareGrant, GrantingClient, PreparedShare } from "../core/shares/grant.ts";
import type { Person } from "../core/access/principal.ts";
import type { Share } from "../core/shares/share.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { CeaseDetails } from "../core/withdrawals/cease-acknowledgment.ts";
import { codeLifetimeMs } from "../core/shares/request.ts";
import { unchangedBusinessId } from "./accounts.ts";
import { insertDisclosure } from "./certificates.ts";
import { parseContactFields, serializeContactFields, unchangedFieldsRevision } from "./contact-fields.ts";
import type { Database, Statement } from "./database.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { isTriggerError, isConstraintViolation } from "./faults.ts";
import { allOf, jsonList } from "./query.ts";
import { shareCodes, consumerShards, shareAcknowledgements, shareIntents, shares, shareValues } from "./schema.ts";
import { shareCopyContext } from "./share-values.ts";
import { columnContext, type Vault } from "./vault.ts";

/** The grant was decided on an account, or on fields, that are others by now. */
export const isOutdatedGrant = (error: unknown): boolean =>
  isConstraintViolation(error, "NOT NULL", shares.businessId) || isConstraintViolation(error, "NOT NULL", shares.fieldsRevision);

/** The share is in another state by now: one that may not follow, or one that the change was not decided on. */
export const isOutdatedShare = (error: unknown): boolean =>
  isConstraintViolation(error, "NOT NULL", shares.changedBy) || isTriggerError(error, "a share does not go back");

// What the person shared belongs to them; why they stopped, and what was said to that, to the business.
const subjectContext = columnContext("shares", "subject");
const reasonContext = columnContext("shares", "reason");
const detailsContext = columnContext("share_acknowledgements", "details");

interface NewShare {
  readonly prepared: PreparedShare;
  readonly client: Pick<GrantingClient, "business" | "revision">;
  /** Null for a test person. */
  readonly person: Person | null;
  /** Of the person's fields, as read; checked in the insert where the fields lie in the same home. */
  readonly fields: { readonly revision: number; readonly isSameHome: boolean };
  readonly indexes: { readonly email: string | null; readonly phone: string | null };
  readonly signature: IssuerSignature;
  readonly language: MailLanguage;
  readonly requestId: string;
}

/** The row of a new share and the copy of its values, under a key of its own. */
export const insertShare = async (db: Database, vault: Vault, created: NewShare): Promise<readonly Statement[]> => {
  const { prepared, client, person, fields, indexes, signature, language, requestId } = created;
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
  return [
    insertDisclosure(db, { hash: share.disclosureHash, text: prepared.disclosureText }),
    db.insert(shares).values({
      ...share,
      businessId: unchangedBusinessId(client),
      businessName: business.name,
      consumerId: person?.id ?? null,
      consumerChain: person?.chain.tag ?? null,
      consumerAuditLog: person?.chain.auditLog ?? null,
      nextDueAt: computeNextDueAt(share, share.createdAt),
      fieldsRevision: person !== null && fields.isSameHome ? unchangedFieldsRevision(person.id, fields.revision) : fields.revision,
      subjectHash: prepared.subjectHash,
      subjectSealed,
      signature: signature.value,
      signatureKid: signature.kid,
      keySealed,
      emailIndex: indexes.email,
      phoneIndex: indexes.phone,
      language,
      changedBy: requestId,
    }),
    db.insert(shareValues).values({ shareId: id, valuesSealed, revision: fields.revision }),
  ];
};

/** The values as they were at the moment of the grant, for the person alone. */
export const openGrantedFields = async (vault: Vault, id: ShareId, consumerId: ConsumerId, sealed: string): Promise<ContactFields> => {
  const { fields } = JSON.parse(await vault.open(subjectContext(id, consumerId), sealed)) as { readonly fields: string };
  return parseContactFields(fields);
};

/** The code of a grant. It fails as `isDecidedAlready` says when the request has been decided before. */
export const insertShareCode = (
  db: Database,
  { share, verifiedOrigin }: ShareGrant,
  code: {
    readonly codeHash: string;
    readonly requestHash: string;
    readonly challenge: string;
    readonly requireOrigin: boolean;
    /** The real time: a code lives no longer where a sandbox was moved. */
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

/** In the person's home, before or with the first share in another. */
export const insertConsumerShard = (db: Database, consumerId: ConsumerId, home: ShardId) =>
  db.insert(consumerShards).values({ consumerId, shard: home }).onConflictDoNothing();

const intentLeaseMs = minuteMs; // more than a grant takes: whoever grants settles their own

/** A grant across homes that is not settled yet, in the home of the person: written before the share, deleted after it. */
export const insertShareIntent = (db: Database, shareId: ShareId, consumerId: ConsumerId, now: Instant) =>
  db.insert(shareIntents).values({ shareId, consumerId, nextAt: now + intentLeaseMs });

export const claimShareIntent = async (db: Database, now: Instant) =>
  (await claimDueRows(db, shareIntents, { now, leaseMs: intentLeaseMs, max: 1 }))[0] ?? null;

export const deleteShareIntent = (db: Database, shareId: ShareId) => db.delete(shareIntents).where(eq(shareIntents.shareId, shareId));

/** What a share loses with its end: the key of its values, and a time at which something is due. */
const endedFields = { keySealed: null, nextDueAt: null } as const;
const requestIdIf = (condition: SQL, requestId: string): SQL<string> => sql<string>`case when ${condition} then ${requestId} end`;
const isActiveShare = (now: Instant): SQL => sql`${shares.state} = 'active' and ${shares.expiresAt} > ${now}`;

type RevocationDeadline = Pick<ShareRevocation, "revokedAt" | "ceaseBy">;
const revokedFields = ({ revokedAt, ceaseBy }: RevocationDeadline, requestId: string, condition = isActiveShare(revokedAt)) =>
  ({ ...endedFields, state: "revoked", revokedAt, ceaseBy, changedBy: requestIdIf(condition, requestId) }) as const;

/** Fails as `isOutdatedShare` says. */
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

/** Several at once, without a reason. Fails as `isOutdatedShare` says where one of them is over by now. */
export const updateSharesRevoked = (db: Database, ids: readonly ShareId[], revocation: RevocationDeadline, requestId: string) =>
  db
    .update(shares)
    .set(revokedFields(revocation, requestId))
    .where(inArray(shares.id, jsonList(ids)));

/** Likewise of a sandbox, whose sweep may be behind its clock: what it has not noted as expired is revoked. */
export const updateTestSharesRevoked = (db: Database, ids: readonly ShareId[], revocation: RevocationDeadline, requestId: string) =>
  db
    .update(shares)
    .set(revokedFields(revocation, requestId, eq(shares.state, "active")))
    .where(allOf(inArray(shares.id, jsonList(ids)), eq(shares.environment, "sandbox")));

/** Fails as `isOutdatedShare` says. */
export const updateShareSuperseded = (db: Database, old: ShareId, by: ShareId, now: Instant, requestId: string) =>
  db
    .update(shares)
    .set({ ...endedFields, state: "superseded", supersededBy: by, changedBy: requestIdIf(isActiveShare(now), requestId) })
    .where(eq(shares.id, old));

/** Fails as `isOutdatedShare` says. */
export const updateShareCeased = async (
  db: Database,
  vault: Vault,
  share: Share,
  details: CeaseDetails,
  { now, requestId }: { readonly now: Instant; readonly requestId: string },
): Promise<readonly Statement[]> => {
  const detailsSealed = await vault.seal(detailsContext(share.id, share.business.id), JSON.stringify(details));
  return [
    db
      .update(shares)
      .set({ state: "ceased", changedBy: requestIdIf(sql`${shares.state} = 'revoked'`, requestId) })
      .where(eq(shares.id, share.id)),
    db.insert(shareAcknowledgements).values({ shareId: share.id, acknowledgedAt: now, detailsSealed }),
  ];
};

/** Why the person stopped, for the business they stopped; null where they did not say. */
export const openRevocationReason = async (
  vault: Vault,
  share: Pick<Share, "id" | "business">,
  sealed: string | null,
): Promise<string | null> => (sealed === null ? null : vault.open(reasonContext(share.id, share.business.id), sealed));

/** What the business wrote when it acknowledged; null where it wrote nothing. */
export const openAcknowledgementNote = async (
  vault: Vault,
  share: Pick<Share, "id" | "business">,
  sealed: string | null,
): Promise<string | null> =>
  sealed === null ? null : (JSON.parse(await vault.open(detailsContext(share.id, share.business.id), sealed)) as CeaseDetails).note;
