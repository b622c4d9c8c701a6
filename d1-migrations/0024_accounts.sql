-- A person's account: how it ends, withdrawing from it, and asking others to forget the person.

-- Whom a waiting mail is for, so that it ends with the account.
ALTER TABLE mail_outbox ADD COLUMN consumer_id TEXT;
CREATE INDEX mail_outbox_consumer ON mail_outbox (consumer_id) WHERE consumer_id IS NOT NULL;
-- The payloads of a person's chain end with the account. Entries of certificates, by far the most, are in no person's chain.
CREATE INDEX audit_outbox_chain ON audit_outbox (chain) WHERE entity_type <> 'certificate';

-- In the home of the person: an account that is being erased, until every home has done it.
CREATE TABLE account_erasures (
  consumer_id TEXT PRIMARY KEY REFERENCES consumers (id),
  -- Of the last mail to the person.
  language TEXT NOT NULL CHECK (language IN ('en', 'es', 'fr-CA')),
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_erasures_due ON account_erasures (next_at);

-- In the home of the certificates: a withdrawal from an account that reaches further than one certificate, as far as it is not done yet.
CREATE TABLE account_withdrawals (
  address_index TEXT NOT NULL,
  -- Empty: every business.
  business_id TEXT NOT NULL,
  withdrawn_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  PRIMARY KEY (address_index, business_id)
) STRICT;
CREATE INDEX account_withdrawals_due ON account_withdrawals (next_at);

-- In the home of the person: others are asked to delete them.
CREATE TABLE removals (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  status TEXT NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'in_progress', 'completed', 'rejected')),
  notes_sealed TEXT,
  language TEXT NOT NULL CHECK (language IN ('en', 'es', 'fr-CA')),
  requested_at INTEGER NOT NULL,
  completed_at INTEGER,
  recheck_at INTEGER,
  -- The file itself; its hash is in the person's chain and signed.
  affidavit_sealed TEXT,
  affidavit_sha256 TEXT,
  signature TEXT,
  signature_kid TEXT,
  -- The act of the operator that made the last change; NULL breaks the batch of one decided on an older state.
  changed_by TEXT NOT NULL,
  CHECK ((status = 'completed') = (affidavit_sha256 IS NOT NULL)),
  CHECK ((completed_at IS NULL) = (recheck_at IS NULL)),
  CHECK ((affidavit_sha256 IS NULL) = (signature IS NULL) AND (signature IS NULL) = (signature_kid IS NULL))
) STRICT;
CREATE INDEX removals_consumer ON removals (consumer_id, ord);
CREATE TABLE removal_targets (
  removal_id TEXT NOT NULL REFERENCES removals (id),
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'in_progress', 'completed', 'rejected')),
  completed_at INTEGER,
  PRIMARY KEY (removal_id, name)
) STRICT;
