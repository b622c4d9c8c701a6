// A certificate's recipients, withdrawals for individual recipients, and the business's acknowledgments. The withdrawals of each
// certificate are numbered, and so are the acknowledgments. If two concurrent calls use the same number, the second batch fails, and its
// caller tries again with current data. SPEC Withdrawal.
import { eq, gte, lte, sql, type SQL, type SQLWrapper } from "drizzle-orm";
import type { IssuerSignature, OpenedWithdrawal, WithdrawalProof } from "../core/certificates/published-certificate.ts";
import { sha256Hex } from "../core/hash.ts";
import type { BusinessId, CertId } from "../core/ids.ts";
import type { Instant } from "../core/time.ts";
import type { CeaseDetails } from "../core/withdrawals/cease-acknowledgment.ts";
import type { WithdrawnEntity } from "../core/withdrawals/entity-withdrawal.ts";
import type { EntityWithdrawal, RecordedRequest } from "../core/withdrawals/withdrawal.ts";
import type { Database, Statement } from "./database.ts";
import { isTriggerError, isConstraintViolation } from "./faults.ts";
import { bulkInsert } from "./inserts.ts";
import { jsonRows } from "./json-rows.ts";
import { listEntityAnchors } from "./published-anchors.ts";
import { allOf, existsIn, query } from "./query.ts";
import {
  acknowledgedEntities,
  certificateGroups,
  certificates,
  entityAcknowledgements,
  entityLists,
  entityWithdrawals,
  listedEntities,
  withdrawnEntities,
} from "./schema.ts";
import { unlessErased } from "./unless-erased.ts";
import { columnContext, type EncryptionContext, type Vault } from "./vault.ts";

export interface CertificateRef {
  readonly certId: CertId;
  readonly businessId: BusinessId;
}

const actContextIn =
  (table: string, field: string) =>
  ({ certId, businessId }: CertificateRef, number: number): EncryptionContext =>
    columnContext(table, field)(`${certId} ${number}`, businessId);
const noteContext = actContextIn("entity_withdrawals", "note");
const detailsContext = actContextIn("entity_acknowledgements", "details");

/** A field for queries on `certificates`: the recipients of a certificate. */
export const entitiesField = sql<readonly string[]>`${query
  .select({ entities: entityLists.entities })
  .from(certificateGroups)
  .innerJoin(entityLists, eq(entityLists.id, certificateGroups.entityListId))
  .where(eq(certificateGroups.id, certificates.groupId))}`.mapWith(entityLists.entities);

/** A field for queries on `certificates`: the host on which a certificate was issued. */
export const originDomainField = sql<string>`${query
  .select({ originDomain: certificateGroups.originDomain })
  .from(certificateGroups)
  .where(eq(certificateGroups.id, certificates.groupId))}`;

/**
 * Builds a condition that is true if a list of recipients contains the name. Reads one row of a database index instead of the whole list.
 */
export const isListed = (listId: SQLWrapper, name: string): SQL =>
  existsIn(listedEntities, eq(listedEntities.listId, listId), eq(listedEntities.entity, name));

/** Builds a condition for queries on `certificates`. It is true if the certificate lists the recipient. */
export const isListedInCertificate = (name: string): SQL =>
  isListed(
    sql`${query
      .select({ listId: certificateGroups.entityListId })
      .from(certificateGroups)
      .where(eq(certificateGroups.id, certificates.groupId))}`,
    name,
  );

const answerField = (listId: typeof certificates.acceptedListId | typeof certificates.rejectedListId) =>
  sql<readonly string[] | null>`${query
    .select({ entities: entityLists.entities })
    .from(entityLists)
    .where(eq(entityLists.id, listId))}`.mapWith(entityLists.entities);

/**
 * Fields for queries on `certificates`: the recipients that the person accepted, and those that the person rejected. Both are null if the
 * form did not ask about each recipient.
 */
export const acceptedEntitiesField = answerField(certificates.acceptedListId);
export const rejectedEntitiesField = answerField(certificates.rejectedListId);

const { entity, number } = withdrawnEntities;
const { withdrawnAt, ceaseBy, method, receivedAt } = entityWithdrawals;
const entityAcknowledgedAtField = sql<Instant | null>`${entityAcknowledgements.acknowledgedAt}`;
const isSameAct = allOf(eq(entityWithdrawals.certId, withdrawnEntities.certId), eq(entityWithdrawals.number, number));
const isSameEntity = allOf(eq(acknowledgedEntities.certId, withdrawnEntities.certId), eq(acknowledgedEntities.entity, entity));
const isAcknowledgementOfEntity = allOf(
  eq(entityAcknowledgements.certId, acknowledgedEntities.certId),
  eq(entityAcknowledgements.number, acknowledgedEntities.number),
);

const acknowledgementNumberField = sql<number | null>`${acknowledgedEntities.number}`;
const withdrawnEntityFields = {
  entity,
  number,
  withdrawnAt,
  ceaseBy,
  method,
  receivedAt,
  acknowledgedAt: entityAcknowledgedAtField,
  acknowledgement: acknowledgementNumberField,
};

/** A field for queries on `certificates`: the recipients for whom the person withdrew consent, unsorted (see `sortWithdrawnEntities`). */
export const withdrawnEntitiesField = jsonRows(withdrawnEntityFields, (rows) =>
  query
    .select({ rows })
    .from(withdrawnEntities)
    .innerJoin(entityWithdrawals, isSameAct)
    .leftJoin(acknowledgedEntities, isSameEntity)
    .leftJoin(entityAcknowledgements, isAcknowledgementOfEntity)
    .where(eq(withdrawnEntities.certId, certificates.id)),
);

/** Sorts by the number of the withdrawal, and then by name. */
export const sortWithdrawnEntities = <Entity extends Pick<WithdrawnEntity, "entity" | "number">>(
  withdrawn: readonly Entity[],
): readonly Entity[] => withdrawn.toSorted((a, b) => a.number - b.number || (a.entity < b.entity ? -1 : 1));

export interface SignedReceipt {
  readonly text: string;
  readonly signature: IssuerSignature;
}

/**
 * Returns the columns that are common to withdrawals of whole certificates and withdrawals for individual recipients. If the certificate's
 * personal data is erased, the business's note is not stored.
 */
export const toWithdrawalRow = async (
  vault: Vault,
  certId: CertId,
  context: EncryptionContext,
  recorded: RecordedRequest | null,
  { text, signature }: SignedReceipt,
) => ({
  channel: recorded?.channel ?? null,
  receivedAt: recorded?.receivedAt ?? null,
  noteSealed: recorded === null || recorded.note === null ? null : unlessErased(certId, await vault.seal(context, recorded.note), null),
  receipt: text,
  signature: signature.value,
  signatureKid: signature.kid,
});

const insertWithdrawnEntities = bulkInsert(withdrawnEntities, ["certId", "entity", "number"]);

/**
 * Returns the statements that store a withdrawal for individual recipients. The batch fails if the certificate has been revoked since it
 * was read, or another withdrawal has been recorded (`isOutdatedEntityWithdrawal`).
 */
export const insertEntityWithdrawal = async (
  db: Database,
  vault: Vault,
  certificate: CertificateRef,
  { entities, recorded, ...act }: EntityWithdrawal,
  receipt: SignedReceipt,
): Promise<readonly Statement[]> => {
  const { certId } = certificate;
  const row = await toWithdrawalRow(vault, certId, noteContext(certificate, act.number), recorded, receipt);
  return [
    db.insert(entityWithdrawals).values({ ...act, certId, ...row }),
    insertWithdrawnEntities(
      db,
      entities.map((name) => ({ certId, entity: name, number: act.number })),
    ),
  ];
};

export const isOutdatedEntityWithdrawal = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", entityWithdrawals.certId, entityWithdrawals.number) ||
  isTriggerError(error, "a certificate can be revoked only once, by a withdrawal");

const insertAcknowledgedEntities = bulkInsert(acknowledgedEntities, ["certId", "entity", "number"]);

/**
 * Returns the statements that acknowledge withdrawals for individual recipients. The batch fails if another acknowledgment came first
 * (`isOutdatedAcknowledgement`). The details are not stored if the certificate's personal data is erased.
 */
export const insertEntityAcknowledgement = async (
  db: Database,
  vault: Vault,
  certificate: CertificateRef,
  acknowledgement: { readonly number: number; readonly entities: readonly string[]; readonly details: CeaseDetails; readonly now: Instant },
): Promise<readonly Statement[]> => {
  const { certId } = certificate;
  const { number: act, entities, details, now } = acknowledgement;
  const detailsSealed = unlessErased(certId, await vault.seal(detailsContext(certificate, act), JSON.stringify(details)), "");
  return [
    db.insert(entityAcknowledgements).values({ certId, number: act, acknowledgedAt: now, detailsSealed }),
    insertAcknowledgedEntities(
      db,
      entities.map((name) => ({ certId, entity: name, number: act })),
    ),
  ];
};

export const isOutdatedAcknowledgement = (error: unknown): boolean =>
  isConstraintViolation(error, "UNIQUE", entityAcknowledgements.certId, entityAcknowledgements.number) ||
  isConstraintViolation(error, "UNIQUE", acknowledgedEntities.certId, acknowledgedEntities.entity);

/**
 * For each recipient for whom consent was withdrawn, returns the decrypted note and acknowledgment, in the order of
 * `sortWithdrawnEntities`.
 */
export const listOpenedEntityWithdrawals = async (
  db: Database,
  vault: Vault,
  certificate: CertificateRef,
): Promise<readonly OpenedWithdrawal[]> => {
  const { channel, noteSealed } = entityWithdrawals;
  const rows = await db
    .select({
      entity,
      number,
      channel,
      noteSealed,
      acknowledgement: acknowledgedEntities.number,
      detailsSealed: entityAcknowledgements.detailsSealed,
    })
    .from(withdrawnEntities)
    .innerJoin(entityWithdrawals, isSameAct)
    .leftJoin(acknowledgedEntities, isSameEntity)
    .leftJoin(entityAcknowledgements, isAcknowledgementOfEntity)
    .where(eq(withdrawnEntities.certId, certificate.certId));
  const opened = new Map<string, Promise<string>>(); // each note is decrypted only once, because a thousand recipients can share it
  const open = (context: EncryptionContext, sealed: string): Promise<string> => {
    const text = opened.get(sealed) ?? vault.open(context, sealed);
    opened.set(sealed, text);
    return text;
  };
  return Promise.all(
    sortWithdrawnEntities(rows).map(async (row): Promise<OpenedWithdrawal> => {
      const { acknowledgement, detailsSealed } = row;
      // After an erasure, the details are an empty string.
      const hasDetails = acknowledgement !== null && detailsSealed !== null && detailsSealed !== "";
      return {
        recorded:
          row.channel === null
            ? null
            : {
                channel: row.channel,
                note: row.noteSealed === null ? null : await open(noteContext(certificate, row.number), row.noteSealed),
              },
        acknowledgement: hasDetails
          ? (JSON.parse(await open(detailsContext(certificate, acknowledgement), detailsSealed)) as CeaseDetails)
          : null,
      };
    }),
  );
};

/** Lists the receipts, signatures and anchors of the withdrawals from number `from` to number `to`, in order. */
export const listEntityWithdrawalProofs = async (
  db: Database,
  certId: CertId,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly (WithdrawalProof & { readonly number: number })[]> => {
  if (to < from) return [];
  const { number: act, receipt, signature, signatureKid } = entityWithdrawals;
  const entityWithdrawalRows = await db
    .select({ number: act, receipt, signature, signatureKid })
    .from(entityWithdrawals)
    .where(allOf(eq(entityWithdrawals.certId, certId), gte(act, from), lte(act, to)))
    .orderBy(act);
  const statements = await listEntityAnchors(db, certId, "certificate.entities_withdrawn");
  // Each anchor statement contains the hash of the withdrawal's receipt.
  const receiptHashOf = (text: string) => (JSON.parse(text) as { receipt_hash?: string }).receipt_hash;
  const byReceipt = new Map(statements.toReversed().map((anchor) => [receiptHashOf(anchor.statement), anchor]));
  return entityWithdrawalRows.map((withdrawal) => ({
    number: withdrawal.number,
    receipt: withdrawal.receipt,
    signature: { kid: withdrawal.signatureKid, alg: "Ed25519", value: withdrawal.signature },
    anchor: byReceipt.get(sha256Hex(withdrawal.receipt)) ?? null,
  }));
};
