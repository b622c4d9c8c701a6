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
 * Places the entries in one transaction, in order. An entry that the database already contains is left out. Its first batch was committed,
 * although the response was lost. If the database has another certificate with the entry's ID, the entry is kept as a twin of it. Throws a
 * StorageFault if this fails. Nothing is written then, except that the outcome is unknown after an outage. Placing the same entries again
 * is safe.
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
