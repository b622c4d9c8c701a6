// Checkpoints of the logs (one every 15 minutes), their attestations, and the largest tree that each audit log has signed. Shard `00`
// stores these rows for all shards.
import { desc, eq, gt, gte, lt, sql, type SQLWrapper } from "drizzle-orm";
import type { Attestation } from "../core/ledger/adapter.ts";
import { formatCheckpointStatement, type CheckpointSubject } from "../core/ledger/statement.ts";
import type { ShardId } from "../core/ids.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import { anchors, attestations, changes, checkpoints, auditLogHighWater } from "./schema.ts";
import { lastChangeOrd } from "./changes.ts";
import { excluded, insertIf } from "./inserts.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { allOf, hasPreviousChange } from "./query.ts";

export interface NewCheckpoint extends CheckpointSubject {
  /** The audit log, or null for a ledger. */
  readonly auditLog: ShardId | null;
  /** The number of the 15-minute window, counted from 1970-01-01 (UTC). */
  readonly window: number;
}

/** A witness or timestamp service. `attestation` is null if the service has not attested the checkpoint yet. */
export interface RequestedAttestor {
  readonly kind: Attestation["kind"];
  readonly name: string;
  readonly attestation: Attestation | null;
}

/** Returns the largest tree that an audit log has signed, or null if it has signed none. */
export const findHighWater = async (db: Database, auditLog: ShardId) =>
  (await db
    .select({ size: auditLogHighWater.size, root: auditLogHighWater.root })
    .from(auditLogHighWater)
    .where(eq(auditLogHighWater.auditLog, auditLog))
    .get()) ?? null;

// The value is inlined, because SQLite does not use the partial index attestations_due for a condition with bound values.
const isPending = eq(attestations.status, "pending").inlineParams();
const isAttested = eq(attestations.status, "attested");
const isCheckpointOfAttestation = allOf(eq(checkpoints.origin, attestations.origin), eq(checkpoints.window, attestations.window));

const asNumber = (size: SQLWrapper | string) => sql<number>`cast(${size} as integer)`;

const raiseHighWater = (db: Database, auditLog: ShardId, size: string, root: string, now: Instant) =>
  db
    .insert(auditLogHighWater)
    .values({ auditLog, size, root, updatedAt: now })
    .onConflictDoUpdate({
      target: auditLogHighWater.auditLog,
      set: { size, root, updatedAt: now },
      setWhere: gt(asNumber(excluded(auditLogHighWater.size)), asNumber(auditLogHighWater.size)),
    });

/**
 * Saves a checkpoint with an anchor for each ledger and an attestation for each attestor. If the window already has a checkpoint, keeps it
 * and adds no anchors. For an audit log, also saves the tree if it is the largest that the log has signed. Marks pending attestations of
 * earlier checkpoints as given up, because the new checkpoint covers the same entries.
 */
export const insertCheckpoint = async (
  db: Database,
  taken: NewCheckpoint,
  requested: { readonly ledgerIds: readonly string[]; readonly attestors: readonly RequestedAttestor[] },
  now: Instant,
): Promise<void> => {
  const statement = formatCheckpointStatement(taken);
  const type = taken.auditLog === null ? "ledger.checkpoint" : "audit.checkpoint";
  const { origin, window, auditLog, size, root, note, headsRoot, headsSize } = taken;
  await batch(db, [
    db
      .insert(checkpoints)
      .values({ origin, window, size, root, note, headsRoot, headsSize, createdAt: now })
      .onConflictDoNothing({ target: [checkpoints.origin, checkpoints.window] }),
    // Each of these inserts depends on the preceding one, so a checkpoint that is already stored adds no changes and no anchors.
    ...requested.ledgerIds.flatMap((ledgerId) => [
      insertIf(db, changes, { id: crypto.randomUUID(), type, entityType: "log", entityId: origin, at: now }, hasPreviousChange()),
      insertIf(
        db,
        anchors,
        {
          ord: lastChangeOrd,
          ledgerId,
          kind: "checkpoint",
          entityId: origin,
          event: type,
          statement,
          nextAt: now,
          createdAt: now,
        },
        hasPreviousChange(),
      ),
    ]),
    ...requested.attestors.map(({ kind, name, attestation }) =>
      db
        .insert(attestations)
        .values({
          origin,
          window,
          kind,
          attestor: name,
          status: attestation === null ? "pending" : "attested",
          nextAt: now,
          data: attestation,
          time: attestation?.time ?? null,
        })
        .onConflictDoNothing({ target: [attestations.origin, attestations.window, attestations.kind, attestations.attestor] }),
    ),
    db
      .update(attestations)
      .set({ status: "given_up" })
      .where(allOf(eq(attestations.origin, origin), lt(attestations.window, window), isPending)),
    ...(auditLog === null ? [] : [raiseHighWater(db, auditLog, size, root, now)]),
  ] satisfies Statement[]);
};

/** Returns the window and size of a log's newest checkpoint, or null if it has none. */
export const findNewestCheckpoint = async (db: Database, origin: string) => {
  const { window, size } = checkpoints;
  return (
    (await db.select({ window, size }).from(checkpoints).where(eq(checkpoints.origin, origin)).orderBy(desc(window)).limit(1).get()) ?? null
  );
};

/** Returns the size of the log's newest checkpoint that this witness has cosigned, as a decimal string, or "0" if there is none. */
export const getWitnessedSize = async (db: Database, origin: string, witness: string): Promise<string> => {
  const row = await db
    .select({ size: checkpoints.size })
    .from(attestations)
    .innerJoin(checkpoints, isCheckpointOfAttestation)
    .where(allOf(eq(attestations.origin, origin), eq(attestations.kind, "cosignature"), eq(attestations.attestor, witness), isAttested))
    .orderBy(desc(attestations.window))
    .limit(1)
    .get();
  return row?.size ?? "0";
};

const leaseMs = minuteMs; // longer than an attempt, which takes at most 30 s

/** Claims up to `max` due attestations for one minute, with their checkpoints. */
export const claimAttestations = async (db: Database, max: number, now: Instant) => {
  const claimed = await claimDueRows(db, attestations, { now, leaseMs, max, only: isPending });
  const found = await batch(
    db,
    claimed.map((row) =>
      db
        .select({ note: checkpoints.note, size: checkpoints.size })
        .from(checkpoints)
        .where(allOf(eq(checkpoints.origin, row.origin), eq(checkpoints.window, row.window))),
    ),
  );
  return claimed.map((row, at) => {
    const checkpoint = found[at]?.[0];
    if (checkpoint === undefined) throw new Error("attestations: a row without its checkpoint");
    return { ...row, ...checkpoint };
  });
};

export type DueAttestation = Found<typeof claimAttestations>[number];

/** The outcome of an attempt. `nextAt` is the time of the next attempt. */
export type AttestationUpdate =
  | { readonly status: "attested" | "unverified"; readonly attestation: Attestation }
  | { readonly status: "given_up" }
  | { readonly status: "pending"; readonly nextAt: Instant };

/** Stores the outcome of an attempt. Does nothing if the attestation is no longer pending. */
export const updateAttestation = (db: Database, row: DueAttestation, update: AttestationUpdate) => {
  const attestation = "attestation" in update ? update.attestation : null;
  const { origin, window, kind, attestor } = attestations;
  return db
    .update(attestations)
    .set({
      status: update.status,
      ...(update.status === "pending" && { nextAt: update.nextAt }),
      data: attestation,
      time: attestation?.time ?? null,
    })
    .where(allOf(eq(origin, row.origin), eq(window, row.window), eq(kind, row.kind), eq(attestor, row.attestor), isPending));
};

/**
 * Returns the log's first checkpoint that covers the entry `index` and has at least `witnessMin` cosignatures. If `needsStamp` is true, it
 * must also have a timestamp. Returns null if there is no such checkpoint. To limit the search, ignores checkpoints before `sinceWindow`.
 * Pass the window in which the entry was added, or an earlier one.
 */
export const findAttestedCheckpoint = async (
  db: Database,
  criteria: {
    readonly origin: string;
    readonly index: string;
    readonly sinceWindow: number;
    readonly witnessMin: number;
    readonly needsStamp: boolean;
  },
) => {
  const { origin, window, size, root, note } = checkpoints;
  const countOf = (kind: Attestation["kind"]) => sql<number>`sum(${eq(attestations.kind, kind)})`;
  const row = await db
    .select({
      size,
      root,
      note,
      attestations: sql<string>`json_group_array(json(${attestations.data}))`.mapWith((list: string): readonly Attestation[] =>
        JSON.parse(list),
      ),
    })
    .from(checkpoints)
    .innerJoin(attestations, allOf(isCheckpointOfAttestation, isAttested))
    .where(allOf(eq(origin, criteria.origin), gte(window, criteria.sinceWindow), gt(asNumber(size), asNumber(criteria.index))))
    .groupBy(window)
    .having(allOf(gte(countOf("cosignature"), criteria.witnessMin), gte(countOf("rfc3161"), criteria.needsStamp ? 1 : 0)))
    .orderBy(window)
    .limit(1)
    .get();
  return row ?? null;
};
