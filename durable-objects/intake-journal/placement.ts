// Places journaled certificates into their database, each exactly once.
import { listFingerprints } from "../../storage/intake.ts";
import { runCompiled, type Database } from "../../storage/database.ts";
import type { WaitingEntry } from "./tables.ts";

/** The same database: `probe` gives up soon, because the first query only shows whether the database answers. */
export interface PlacementDatabases {
  readonly probe: Database;
  readonly db: Database;
}

/**
 * Places the entries in one transaction, in order. An entry that the database already has is left out: its first batch was committed
 * although the answer was lost. If the database has another certificate with the entry's ID, the entry is kept as a twin of it. Throws a
 * StorageFault with nothing written, except that the outcome of an outage is unknown; placing the same entries again is safe.
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
