// Places journaled certificates into their database, each one exactly once.
import { listFingerprints } from "../../storage/intake.ts";
import { runCompiled, type Database } from "../../storage/database.ts";
import type { WaitingEntry } from "./tables.ts";

/** Two connections to the same database. `probe` has a short timeout, because the first query only shows whether the database responds. */
export interface PlacementDatabases {
  readonly probe: Database;
  readonly db: Database;
}

/**
 * Places the entries in one transaction, in order. An entry that the database already contains is left out: its first batch was committed,
 * but the response was lost. If the database has another certificate with the entry's ID, the entry is kept as a twin of it. If this fails,
 * throws a StorageFault and writes nothing. After an outage, however, it is unknown whether the entries were written. Placing the same
 * entries again is safe.
 */
export const placeEntries = async ({ probe, db }: PlacementDatabases, entries: readonly WaitingEntry[]): Promise<void> => {
  const known = await listFingerprints(
    probe,
    entries.map(({ certId }) => certId),
  );
  const statements = entries.flatMap(({ certId, fingerprint, statements: own, twinStatements }) => {
    const placed = known.get(certId);
    if (placed === undefined) return own;
    return placed === fingerprint ? [] : twinStatements;
  });
  await runCompiled(db, statements);
};
