// The schema of the embedded ledger.
import { logTables } from "../transparency-log/migrations.ts";

/** One row per witnessed log: the newest checkpoint that was cosigned for it. Sizes are text because another log may count beyond 2^53. */
const witnessTables = `
  CREATE TABLE witnessed (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT;
`;

export const ledgerLogSteps: readonly string[] = [logTables + witnessTables];
