// The schema of the embedded ledger, step by step.
import { logTables } from "../transparency-log/migrations.ts";

/** One row a log: the newest checkpoint cosigned for it. Sizes are text: another log may count beyond 2^53. */
const witnessTables = `
  CREATE TABLE IF NOT EXISTS witnessed (origin TEXT PRIMARY KEY, size TEXT NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL) STRICT;
`;

export const ledgerLogSteps: readonly string[] = [logTables + witnessTables];
