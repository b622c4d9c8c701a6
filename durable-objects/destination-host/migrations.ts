// The schema of a destination host: recent attempts, and the state of each business that sends to the host.

export const destinationHostSteps: readonly string[] = [
  `
  CREATE TABLE attempt (at INTEGER NOT NULL, business_id TEXT NOT NULL) STRICT;
  CREATE INDEX attempt_time ON attempt (at);
  CREATE TABLE proven (business_id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX proven_age ON proven (at);
  CREATE TABLE unproven (business_id TEXT PRIMARY KEY, attempts INTEGER NOT NULL, last_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX unproven_age ON unproven (last_at);
  CREATE TABLE waiting (business_id TEXT PRIMARY KEY, since INTEGER NOT NULL, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
];
