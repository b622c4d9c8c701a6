// The schema of the embedded ledger.
import { logTables } from "../transparency-log/migrations.ts";

/** Stores the newest checkpoint that the witness has cosigned for each log. Sizes are text, because they can exceed 2^53. */
const witnessTables = `
  CREATE TABLE witnessed (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT;
`;

export const ledgerLogSteps: readonly string[] = [logTables + witnessTables];
