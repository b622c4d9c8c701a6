// Data removal requests, stored in the person's shard. Affidavit files are sealed, because they contain the person's email address.
import { desc, eq, inArray, isNull, lt, lte, or, sql, type SQL } from "drizzle-orm";
import { toBase64Url, fromBase64Url } from "../core/bytes.ts";
import type { ConsumerId, RemovalId } from "../core/ids.ts";
import type { Language } from "../core/language.ts";
import type { AffidavitProof, Removal, RemovalTarget, RemovalTargetName } from "../core/removals/removal.ts";
import type { Instant } from "../core/time.ts";
import { batch, type Database, type Statement } from "./database.ts";
import { isConstraintViolation } from "./faults.ts";
import { bulkInsert } from "./inserts.ts";
import { createLookup, type Lookup } from "./lookups.ts";
import { isExistingConsumer } from "./people.ts";
import { allOf, existsIn, query } from "./query.ts";
import { consumers, removals, removalTargets } from "./schema.ts";
import { columnContext, type Vault } from "./vault.ts";

const notesContext = columnContext("removals", "notes");
const affidavitContext = columnContext("removals", "affidavit");

const insertRemovalTargets = bulkInsert(removalTargets, ["removalId", "name"]);

export interface NewRemoval {
  readonly id: RemovalId;
  readonly consumerId: ConsumerId;
  readonly targets: readonly RemovalTargetName[];
  readonly notes: string | null;
  readonly language: Language;
  readonly now: Instant;
  readonly requestId: string;
}

/** Returns the statements for a new removal. The batch fails if the person is unknown or the account is erased (`isMissingConsumer`). */
export const insertRemoval = async (db: Database, vault: Vault, removal: NewRemoval): Promise<readonly Statement[]> => {
  const { id, consumerId, targets, notes, language, now, requestId } = removal;
  const person = query.select({ id: consumers.id }).from(consumers).where(isExistingConsumer(consumerId));
  return [
    db.insert(removals).values({
      id,
      consumerId: sql<ConsumerId>`${person}`,
      notesSealed: notes === null ? null : await vault.seal(notesContext(id, consumerId), notes),
      language,
      requestedAt: now,
      changedBy: requestId,
    }),
    insertRemovalTargets(
      db,
      targets.map((name) => ({ removalId: id, name })),
    ),
  ];
};

export const isMissingConsumer = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", removals.consumerId);

type RemovalRow = typeof removals.$inferSelect;
type TargetRow = typeof removalTargets.$inferSelect;

const toRemoval = async (vault: Vault, row: RemovalRow, targets: readonly TargetRow[]): Promise<Removal> => {
  const { id, consumerId, status, notesSealed, requestedAt, completedAt, recheckAt, affidavitSha256, signature, signatureKid } = row;
  return {
    id,
    consumerId,
    status,
    targets: targets
      .filter(({ removalId }) => removalId === id)
      .map(
        ({ name, status: targetStatus, completedAt: at }): RemovalTarget => ({
          name: name as RemovalTargetName,
          status: targetStatus,
          completedAt: at,
        }),
      ),
    notes: notesSealed === null ? null : await vault.open(notesContext(id, consumerId), notesSealed),
    requestedAt,
    completedAt,
    recheckAt,
    affidavit:
      affidavitSha256 === null || signature === null || signatureKid === null
        ? null
        : { sha256: affidavitSha256, signature, kid: signatureKid },
  };
};

export const maxListedRemovals = 200;

/** Lists up to 200 of a person's removals, newest first. If `startingAfter` is given, starts after that removal. */
export const listRemovalsByConsumer = (
  db: Database,
  vault: Vault,
  consumerId: ConsumerId,
  startingAfter: RemovalId | null = null,
): Lookup<readonly Removal[]> => {
  const start = query
    .select({ ord: removals.ord })
    .from(removals)
    .where(eq(removals.id, startingAfter ?? ("" as RemovalId)));
  const isOwn = eq(removals.consumerId, consumerId);
  const isListed = startingAfter === null ? isOwn : allOf(isOwn, lt(removals.ord, sql`(${start})`));
  const newest = desc(removals.ord);
  const ids = query.select({ id: removals.id }).from(removals).where(isListed).orderBy(newest).limit(maxListedRemovals);
  return createLookup(
    db,
    [
      db.select().from(removals).where(isListed).orderBy(newest).limit(maxListedRemovals),
      db.select().from(removalTargets).where(inArray(removalTargets.removalId, ids)).orderBy(removalTargets.name),
    ],
    ([rows, targets]) => Promise.all(rows.map((row) => toRemoval(vault, row, targets))),
  );
};

/**
 * Lists up to `limit` removals that are unfinished or due for a new check, oldest first. Omits removals of erased accounts, because an
 * operator can no longer process them. Reads no personal data.
 */
export const listWaitingRemovals = async (db: Database, now: Instant, limit: number) => {
  const isWaiting = allOf(
    or(inArray(removals.status, ["requested", "in_progress"]), lte(removals.recheckAt, now)) as SQL,
    existsIn(consumers, eq(consumers.id, removals.consumerId), isNull(consumers.erasedAt)),
  );
  const waiting = query.select({ id: removals.id }).from(removals).where(isWaiting).orderBy(removals.ord).limit(limit);
  const { id, status, requestedAt, recheckAt } = removals;
  const { rows, targets } = await batch(db, {
    rows: db.select({ id, status, requestedAt, recheckAt }).from(removals).where(isWaiting).orderBy(removals.ord).limit(limit),
    targets: db.select().from(removalTargets).where(inArray(removalTargets.removalId, waiting)).orderBy(removalTargets.name),
  });
  return rows.map((row) => ({
    ...row,
    targets: targets
      .filter(({ removalId }) => removalId === row.id)
      .map(({ name, status: targetStatus }) => ({ name, status: targetStatus })),
  }));
};

/** Postpones the due check of a completed removal to `nextAt`. Returns false if the removal is unknown or no check is due. */
export const updateRemovalCheck = async (db: Database, id: RemovalId, now: Instant, nextAt: Instant): Promise<boolean> => {
  const { meta } = await db
    .update(removals)
    .set({ recheckAt: nextAt })
    .where(allOf(eq(removals.id, id), lte(removals.recheckAt, now)));
  return meta.changes > 0;
};

/** Returns the time of a removal's next check, without reading personal data. Returns null if the removal is unknown. */
export const findRemovalCheck = async (db: Database, id: RemovalId): Promise<Pick<Removal, "recheckAt"> | null> => {
  const [row] = await db.select({ recheckAt: removals.recheckAt }).from(removals).where(eq(removals.id, id));
  return row ?? null;
};

/** Finds a removal. Returns null if the removal is unknown. */
export const findRemoval = async (db: Database, vault: Vault, id: RemovalId) => {
  const { rows, targets } = await batch(db, {
    rows: db.select().from(removals).where(eq(removals.id, id)),
    targets: db.select().from(removalTargets).where(eq(removalTargets.removalId, id)).orderBy(removalTargets.name),
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { language, changedBy, affidavitSealed } = row;
  return { removal: await toRemoval(vault, row, targets), language, changedBy, affidavitSealed };
};

/**
 * Returns the statements for a change. `was` is the value of `changedBy` when the removal was read. The batch fails if the removal has
 * changed since then (`isOutdatedRemoval`).
 */
export const updateRemovalRow = async (
  db: Database,
  vault: Vault,
  removal: Removal,
  {
    affidavit,
    was,
    requestId,
  }: { readonly affidavit: (AffidavitProof & { readonly file: Uint8Array }) | null; readonly was: string; readonly requestId: string },
): Promise<readonly Statement[]> => {
  const { id, consumerId, status, completedAt, recheckAt, targets } = removal;
  const proof =
    affidavit === null ? {} : { affidavitSha256: affidavit.sha256, signature: affidavit.signature, signatureKid: affidavit.kid };
  const affidavitSealed = affidavit === null ? null : await vault.seal(affidavitContext(id, consumerId), toBase64Url(affidavit.file));
  return [
    db
      .update(removals)
      .set({
        status,
        completedAt,
        recheckAt,
        affidavitSealed,
        ...proof,
        changedBy: sql<string>`case when ${removals.changedBy} = ${was} then ${requestId} end`,
      })
      .where(eq(removals.id, id)),
    ...targets.map(({ name, status: targetStatus, completedAt: at }) =>
      db
        .update(removalTargets)
        .set({ status: targetStatus, completedAt: at })
        .where(allOf(eq(removalTargets.removalId, id), eq(removalTargets.name, name))),
    ),
  ];
};

export const isOutdatedRemoval = (error: unknown): boolean => isConstraintViolation(error, "NOT NULL", removals.changedBy);

export const openAffidavit = async (
  vault: Vault,
  { id, consumerId }: Pick<Removal, "id" | "consumerId">,
  sealed: string,
): Promise<Uint8Array<ArrayBuffer>> => fromBase64Url(await vault.open(affidavitContext(id, consumerId), sealed)) as Uint8Array<ArrayBuffer>;
