// Checkpoints of the logs, one a quarter of an hour, what others attested of them, and the largest tree the audit log ever
// signed. They live in home 00: a log is one for all homes.
import { desc, eq, gt, gte, lt, sql, type SQLWrapper } from "drizzle-orm";
import type { Attestation } from "../core/ledger/adapter.ts";
import { formatCheckpointStatement, hashStatement } from "../core/ledger/statement.ts";
import { minuteMs, type Instant } from "../core/time.ts";
import { batch, type Database, type Found, type Statement } from "./database.ts";
import { anchors, attestations, checkpoints, auditLogHighWater } from "./schema.ts";
import { excluded } from "./inserts.ts";
import { claimDueRows } from "./outboxes/claim.ts";
import { allOf } from "./query.ts";

export interface NewCheckpoint {
  readonly origin: string;
  /** Of the audit log; null for the ledger, which remembers itself in ledger_state. */
  readonly auditLog: number | null;
  /** Count of quarters of an hour since 1970. */
  readonly window: number;
  readonly at: Instant;
  readonly size: string;
  readonly root: string;
  readonly note: string;
  readonly headsRoot: string;
  readonly headsSize: string;
}

/** Somebody who is to attest a checkpoint, or has already. */
export interface RequestedAttestor {
  readonly kind: Attestation["kind"];
  readonly name: string;
  readonly attestation: Attestation | null;
}

/** The largest tree a log of ours signed, as remembered outside of it. */
export const findHighWater = async (db: Database, shard: number) =>
  (await db
    .select({ size: auditLogHighWater.size, root: auditLogHighWater.root })
    .from(auditLogHighWater)
    .where(eq(auditLogHighWater.auditLog, shard))
    .get()) ?? null;

// In the statement as it is in the index attestations_due, or SQLite does not take that index: never a bound value.
const isPending = eq(attestations.status, "pending").inlineParams();
const isAttested = eq(attestations.status, "attested");
const isCheckpointOfAttestation = allOf(eq(checkpoints.origin, attestations.origin), eq(checkpoints.window, attestations.window));

const asNumber = (size: SQLWrapper | string) => sql<number>`cast(${size} as integer)`;

const raiseHighWater = (db: Database, shard: number, size: string, root: string, now: Instant) =>
  db
    .insert(auditLogHighWater)
    .values({ auditLog: shard, size, root, updatedAt: now })
    .onConflictDoUpdate({
      target: auditLogHighWater.auditLog,
      set: { size, root, updatedAt: now },
      setWhere: gt(asNumber(excluded(auditLogHighWater.size)), asNumber(auditLogHighWater.size)),
    });

/**
 * Keeps a checkpoint, and asks for it to be anchored in each ledger and attested by each attestor. The same window again changes
 * nothing. What an attestor has not answered about earlier checkpoints is given up: a later one covers them, and a stamp that
 * comes late says no more than the newer one.
 */
export const insertCheckpoint = async (
  db: Database,
  taken: NewCheckpoint,
  asks: { readonly ledgerIds: readonly string[]; readonly attestors: readonly RequestedAttestor[] },
  now: Instant,
): Promise<void> => {
  const statement = formatCheckpointStatement(taken);
  const { origin, window, auditLog, size, root, note, headsRoot, headsSize } = taken;
  await batch(db, [
    db
      .insert(checkpoints)
      .values({ origin, window, size, root, note, headsRoot, headsSize, createdAt: now })
      .onConflictDoNothing({ target: [checkpoints.origin, checkpoints.window] }),
    ...asks.ledgerIds.map((ledgerId) =>
      db
        .insert(anchors)
        .values({
          id: crypto.randomUUID(),
          ledgerId,
          kind: "checkpoint",
          entityId: origin,
          event: auditLog === null ? "ledger.checkpoint" : "audit.checkpoint",
          statement,
          entryHash: hashStatement(statement),
          nextAt: now,
          createdAt: now,
        })
        .onConflictDoNothing({ target: [anchors.ledgerId, anchors.entryHash] }),
    ),
    ...asks.attestors.map(({ kind, name, attestation }) =>
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

/** The newest checkpoint kept of a log. */
export const findNewestCheckpoint = async (db: Database, origin: string) => {
  const { window, size } = checkpoints;
  return (
    (await db.select({ window, size }).from(checkpoints).where(eq(checkpoints.origin, origin)).orderBy(desc(window)).limit(1).get()) ?? null
  );
};

/** Size of the newest checkpoint of a log that this witness has cosigned; "0" when none is known. */
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

const leaseMs = minuteMs; // an attestor is given ten seconds, three times over in the worst case

export const claimAttestations = async (db: Database, max: number, now: Instant) => {
  const claimed = await claimDueRows(db, attestations, { now, leaseMs, max, only: isPending });
  const kept = await batch(
    db,
    claimed.map((row) =>
      db
        .select({ note: checkpoints.note, size: checkpoints.size })
        .from(checkpoints)
        .where(allOf(eq(checkpoints.origin, row.origin), eq(checkpoints.window, row.window))),
    ),
  );
  return claimed.map((row, at) => {
    const checkpoint = kept[at]?.[0];
    if (checkpoint === undefined) throw new Error("attestations: a row without its checkpoint");
    return { ...row, ...checkpoint };
  });
};

export type DueAttestation = Found<typeof claimAttestations>[number];

/** What became of a claimed row: attested, kept unverified, given up, or to be asked again at `nextAt`. */
export type AttestationUpdate =
  | { readonly status: "attested" | "unverified"; readonly attestation: Attestation }
  | { readonly status: "given_up" }
  | { readonly status: "pending"; readonly nextAt: Instant };

export const updateAttestation = (db: Database, row: DueAttestation, end: AttestationUpdate) => {
  const attestation = "attestation" in end ? end.attestation : null;
  const { origin, window, kind, attestor } = attestations;
  return db
    .update(attestations)
    .set({
      status: end.status,
      ...(end.status === "pending" && { nextAt: end.nextAt }),
      data: attestation,
      time: attestation?.time ?? null,
    })
    .where(allOf(eq(origin, row.origin), eq(window, row.window), eq(kind, row.kind), eq(attestor, row.attestor), isPending));
};

/**
 * The first checkpoint of a log that covers the entry and is attested as far as asked: by so many witnesses, and by an authority
 * where there is one. `sinceWindow` is a window before which the entry was not in the log.
 */
export const findAttestedCheckpoint = async (
  db: Database,
  asked: {
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
    .where(allOf(eq(origin, asked.origin), gte(window, asked.sinceWindow), gt(asNumber(size), asNumber(asked.index))))
    .groupBy(window)
    .having(allOf(gte(countOf("cosignature"), asked.witnessMin), gte(countOf("rfc3161"), asked.needsStamp ? 1 : 0)))
    .orderBy(window)
    .limit(1)
    .get();
  return row ?? null;
};
