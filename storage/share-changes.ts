// What changes a share: the rows of a grant and of each transition. A transition names the state it was decided on inside its own
// statement; when that has passed, `changed_by` is NULL, the batch is undone, and whoever asked decides again.
import { eq, inArray, sql, type SQL } from "drizzle-orm";
import { base64UrlOf } from "../core/bytes.ts";
import { canonicalJson } from "../core/canonical-json.ts";
import type { IssuerSignature } from "../core/certificates/published.ts";
import type { ConsumerId, Home, ShareId } from "../core/ids.ts";
import type { MailLanguage } from "../core/mail/templates.ts";
import { nextDueAt } from "../core/shares/clock.ts";
import type { Revocation } from "../core/shares/end.ts";
import type { ContactFields } from "../core/shares/fields.ts";
import type { DecidedGrant, GrantingClient, PreparedShare } from "../core/shares/grant.ts";
import type { Person } from "../core/access/principal.ts";
import type { Share } from "../core/shares/share.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import type { CeaseDetails } from "../core/withdrawals/acknowledge.ts";
import { codeLifeMs } from "../core/shares/request.ts";
import { businessIfStill } from "./accounts.ts";
import { keepDisclosure } from "./certificates.ts";
import { fieldsOfText, fieldsText, revisionIfStill } from "./contact-fields.ts";
import type { Database, Statement } from "./database.ts";
import { claimDue } from "./outboxes/claim.ts";
import { isRaised, violates } from "./faults.ts";
import { allOf, listed } from "./query.ts";
import { authCodes, consumerHomes, shareAcknowledgements, shareIntents, shares, shareValues } from "./schema.ts";
import { copyContext } from "./share-values.ts";
import { contextIn, type Vault } from "./vault.ts";

/** The grant was decided on an account, or on fields, that are others by now. */
export const isOutdatedGrant = (error: unknown): boolean =>
  violates(error, "NOT NULL", shares.businessId) || violates(error, "NOT NULL", shares.fieldsRevision);

/** The share is in another state by now: one that may not follow, or one that the change was not decided on. */
export const isOutdatedShare = (error: unknown): boolean =>
  violates(error, "NOT NULL", shares.changedBy) || isRaised(error, "a share does not go back");

// What the person shared belongs to them; why they stopped, and what was said to that, to the business.
const subjectContext = contextIn("shares", "subject");
const reasonContext = contextIn("shares", "reason");
const detailsContext = contextIn("share_acknowledgements", "details");

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
  const values = fieldsText(prepared.fields);
  const keySealed = await vault.newRecordKey();
  const [valuesSealed, subjectSealed] = await Promise.all([
    vault.under(keySealed).then((sealer) => sealer.seal(copyContext(id, business.id), values)),
    person === null ? null : vault.seal(subjectContext(id, person.id), canonicalJson({ root_salt: base64UrlOf(rootSalt), fields: values })),
  ]);
  return [
    keepDisclosure(db, { hash: share.disclosureHash, text: prepared.disclosureText }),
    db.insert(shares).values({
      ...share,
      businessId: businessIfStill(client),
      businessName: business.name,
      consumerId: person?.id ?? null,
      consumerChain: person?.chain.tag ?? null,
      consumerShard: person?.chain.shard ?? null,
      nextDueAt: nextDueAt(share, share.createdAt),
      fieldsRevision: person !== null && fields.isSameHome ? revisionIfStill(person.id, fields.revision) : fields.revision,
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
export const openGranted = async (vault: Vault, id: ShareId, consumerId: ConsumerId, sealed: string): Promise<ContactFields> => {
  const { fields } = JSON.parse(await vault.open(subjectContext(id, consumerId), sealed)) as { readonly fields: string };
  return fieldsOfText(fields);
};

/** The code of a grant. It fails as `isDecidedAlready` says when the request has been decided before. */
export const insertCode = (
  db: Database,
  { share, bound }: DecidedGrant,
  code: {
    readonly codeHash: string;
    readonly requestHash: string;
    readonly challenge: string;
    readonly requireOrigin: boolean;
    /** The real time: a code lives no longer where a sandbox was moved. */
    readonly createdAt: Instant;
  },
) =>
  db.insert(authCodes).values({
    ...code,
    shareId: share.id,
    clientId: share.clientId,
    businessId: share.business.id,
    origin: share.origin,
    domainId: bound.domainId,
    expiresAt: code.createdAt + codeLifeMs,
  });

/** In the person's home, before or with the first share in another. */
export const noteHome = (db: Database, consumerId: ConsumerId, home: Home) =>
  db.insert(consumerHomes).values({ consumerId, home }).onConflictDoNothing();

const patienceMs = minuteMs; // more than a grant takes: whoever grants settles their own

/** A grant across homes that is not settled yet, in the home of the person: written before the share, deleted after it. */
export const insertIntent = (db: Database, shareId: ShareId, consumerId: ConsumerId, now: Instant) =>
  db.insert(shareIntents).values({ shareId, consumerId, nextAt: now + patienceMs });

export const claimIntent = async (db: Database, now: Instant) =>
  (await claimDue(db, shareIntents, { now, leaseMs: patienceMs, max: 1 }))[0] ?? null;

export const deleteIntent = (db: Database, shareId: ShareId) => db.delete(shareIntents).where(eq(shareIntents.shareId, shareId));

/** What a share loses with its end: the key of its values, and a time at which something is due. */
const over = { keySealed: null, nextDueAt: null } as const;
const isStill = (condition: SQL, requestId: string): SQL<string> => sql<string>`case when ${condition} then ${requestId} end`;
const isActive = (now: Instant): SQL => sql`${shares.state} = 'active' and ${shares.expiresAt} > ${now}`;

type Deadline = Pick<Revocation, "revokedAt" | "ceaseBy">;
const revoked = ({ revokedAt, ceaseBy }: Deadline, requestId: string, condition = isActive(revokedAt)) =>
  ({ ...over, state: "revoked", revokedAt, ceaseBy, changedBy: isStill(condition, requestId) }) as const;

/** Fails as `isOutdatedShare` says. */
export const updateRevoked = async (
  db: Database,
  vault: Vault,
  share: Share,
  revocation: Deadline,
  { reason, requestId }: { readonly reason: string | null; readonly requestId: string },
): Promise<readonly Statement[]> => {
  const reasonSealed = reason === null ? null : await vault.seal(reasonContext(share.id, share.business.id), reason);
  return [
    db
      .update(shares)
      .set({ ...revoked(revocation, requestId), reasonSealed })
      .where(eq(shares.id, share.id)),
  ];
};

/** Several at once, without a reason. Fails as `isOutdatedShare` says where one of them is over by now. */
export const updateRevokedTogether = (db: Database, ids: readonly ShareId[], revocation: Deadline, requestId: string) =>
  db
    .update(shares)
    .set(revoked(revocation, requestId))
    .where(inArray(shares.id, listed(ids)));

/** Likewise of a sandbox, whose sweep may be behind its clock: what it has not noted as expired is revoked. */
export const updateTestSharesRevoked = (db: Database, ids: readonly ShareId[], revocation: Deadline, requestId: string) =>
  db
    .update(shares)
    .set(revoked(revocation, requestId, eq(shares.state, "active")))
    .where(allOf(inArray(shares.id, listed(ids)), eq(shares.environment, "sandbox")));

/** Fails as `isOutdatedShare` says. */
export const updateSuperseded = (db: Database, old: ShareId, by: ShareId, now: Instant, requestId: string) =>
  db
    .update(shares)
    .set({ ...over, state: "superseded", supersededBy: by, changedBy: isStill(isActive(now), requestId) })
    .where(eq(shares.id, old));

/** Fails as `isOutdatedShare` says. */
export const updateCeased = async (
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
      .set({ state: "ceased", changedBy: isStill(sql`${shares.state} = 'revoked'`, requestId) })
      .where(eq(shares.id, share.id)),
    db.insert(shareAcknowledgements).values({ shareId: share.id, acknowledgedAt: now, detailsSealed }),
  ];
};

/** Why the person stopped, for the business they stopped; null where they did not say. */
export const openReason = async (vault: Vault, share: Pick<Share, "id" | "business">, sealed: string | null): Promise<string | null> =>
  sealed === null ? null : vault.open(reasonContext(share.id, share.business.id), sealed);

/** What the business wrote when it acknowledged; null where it wrote nothing. */
export const openNote = async (vault: Vault, share: Pick<Share, "id" | "business">, sealed: string | null): Promise<string | null> =>
  sealed === null ? null : (JSON.parse(await vault.open(detailsContext(share.id, share.business.id), sealed)) as CeaseDetails).note;
