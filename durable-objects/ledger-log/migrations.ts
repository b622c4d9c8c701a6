// The schema of the embedded ledger.
import { logTables } from "../transparency-log/migrations.ts";

/**
 * The table has one row per witnessed log: the newest checkpoint that was cosigned for it. Sizes are text because another log can have more
 * than 2^53 entries.
 */
const witnessTables = `
  CREATE TABLE witnessed (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT;
`;

export const ledgerLogSteps: readonly string[] = [logTables + witnessTables];
