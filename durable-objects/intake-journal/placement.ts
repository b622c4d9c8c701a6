// Writes journaled certificates to their database, each one exactly once.
import { listFingerprints } from "../../storage/intake.ts";
import { runCompiled, type Database } from "../../storage/database.ts";
import type { WaitingEntry } from "./tables.ts";

/**
 * Writes the entries in one transaction, in order. Skips entries that the database already contains because an earlier batch was committed
 * but its response was lost. If the database contains another certificate with an entry's ID, stores only the entry's text and signature
 * (`insertTwin`). Throws a StorageFault on failure. If the fault is an outage, the entries may have been written. For any other fault,
 * nothing was written. Calling this function again is safe.
 *
 * `probe` and `db` are the same database. The first query uses `probe`, which has a short timeout, so that an outage is noticed quickly.
 */
export const placeEntries = async (probe: Database, db: Database, entries: readonly WaitingEntry[]): Promise<void> => {
  const known = await listFingerprints(
    probe,
    entries.map(({ certId }) => certId),
  );
  const statements = entries.flatMap(({ certId, fingerprint, statements: entryStatements, twinStatements }) => {
    const placed = known.get(certId);
    if (placed === undefined) return entryStatements;
    return placed === fingerprint ? [] : twinStatements;
  });
  await runCompiled(db, statements);
};
