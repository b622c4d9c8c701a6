// Withdrawals from single recipients: what is read of them wherever a certificate is read, and the rows that make one. Of two at
// once on one certificate the second fails whole, by the number of its act or by a recipient, and is decided anew.
import { eq } from "drizzle-orm";
import type { IssuerSignature, PublishedAnchor } from "../core/certificates/published.ts";
import { sha256Hex } from "../core/hash.ts";
import type { CertId } from "../core/ids.ts";
import type { EntityWithdrawal, WithdrawnEntity } from "../core/withdrawals/entities.ts";
import type { Database, Statement } from "./database.ts";
import { isRaised, violates } from "./faults.ts";
import { insertMany } from "./inserts.ts";
import { jsonRows } from "./json-rows.ts";
import { allOf, query } from "./query.ts";
import { anchors, certificates, entityWithdrawals, withdrawnEntities } from "./schema.ts";

const { entity, number } = withdrawnEntities;
const { withdrawnAt, ceaseBy } = entityWithdrawals;
const ofSameAct = allOf(eq(entityWithdrawals.certId, withdrawnEntities.certId), eq(entityWithdrawals.number, number));

/** For a query over certificates. The order of the rows is the database's: `inOrder`. */
export const withdrawnEntitiesField = jsonRows({ entity, number, withdrawnAt, ceaseBy }, (rows) =>
  query
    .select({ rows })
    .from(withdrawnEntities)
    .innerJoin(entityWithdrawals, ofSameAct)
    .where(eq(withdrawnEntities.certId, certificates.id)),
);

/** In the order of the acts, by name within one. */
export const inOrder = (withdrawn: readonly WithdrawnEntity[]): readonly WithdrawnEntity[] =>
  withdrawn.toSorted((a, b) => a.number - b.number || (a.entity < b.entity ? -1 : 1));

const insertEntities = insertMany(withdrawnEntities, ["certId", "entity", "number"]);

export const insertEntityWithdrawal = (
  db: Database,
  certId: CertId,
  { entities, ...act }: EntityWithdrawal,
  receipt: { readonly text: string; readonly signature: IssuerSignature },
): readonly Statement[] => [
  db.insert(entityWithdrawals).values({
    ...act,
    certId,
    receipt: receipt.text,
    signature: receipt.signature.value,
    signatureKid: receipt.signature.kid,
  }),
  insertEntities(
    db,
    entities.map((name) => ({ certId, entity: name, number: act.number })),
  ),
];

/** True when the batch failed because the certificate changed since it was read: another act, or it is revoked. */
export const isOutdatedAct = (error: unknown): boolean =>
  violates(error, "UNIQUE", entityWithdrawals.certId, entityWithdrawals.number) ||
  isRaised(error, "a certificate is revoked once, by a withdrawal");

/** What proves one act; null where there is none of that number. */
export const provenEntityWithdrawal = async (
  db: Database,
  certId: CertId,
  act: number,
): Promise<{ readonly receipt: string; readonly signature: IssuerSignature; readonly anchor: PublishedAnchor | null } | null> => {
  const { receipt, signature, signatureKid } = entityWithdrawals;
  const row = await db
    .select({ receipt, signature, signatureKid })
    .from(entityWithdrawals)
    .where(allOf(eq(entityWithdrawals.certId, certId), eq(entityWithdrawals.number, act)))
    .get();
  if (row === undefined) return null;
  const { event, ledgerId, entryHash, statement, status, anchoredAt } = anchors;
  const statements = await db
    .select({ event, ledgerId, entryHash, statement, status, receipt: anchors.receipt, anchoredAt })
    .from(anchors)
    .where(allOf(eq(anchors.entityId, certId), eq(event, "certificate.entities_withdrawn")))
    .all();
  const hash = sha256Hex(row.receipt);
  return {
    receipt: row.receipt,
    signature: { kid: row.signatureKid, alg: "Ed25519", value: row.signature },
    anchor: statements.find((one) => (JSON.parse(one.statement) as { receipt_hash?: string }).receipt_hash === hash) ?? null,
  };
};
