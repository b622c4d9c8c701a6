-- People: who signs in to a portal or to the consumer app, with which codes and sessions, and the mail that reaches them.

-- One address is a member of at most one business: a code sent to it opens one portal.
CREATE TABLE members (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  email_sealed TEXT NOT NULL,
  email_index TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX members_business ON members (business_id);

CREATE TABLE consumers (
  id TEXT PRIMARY KEY,
  email_sealed TEXT NOT NULL,
  email_index TEXT NOT NULL UNIQUE,
  -- As given at the first sign-in; NULL when none was.
  name_sealed TEXT,
  audit_chain TEXT NOT NULL UNIQUE,
  audit_shard INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

-- One row a request for a code, whether or not the address is known: both leave the same trace.
CREATE TABLE login_codes (
  id TEXT PRIMARY KEY,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business')),
  email_index TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The session the code was spent on; NULL until then.
  session_hash TEXT
) STRICT;
CREATE INDEX login_codes_address ON login_codes (realm, email_index, created_at);
CREATE INDEX login_codes_created ON login_codes (created_at);

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business')),
  user_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Mail on its way out, written in the batch of the change that calls for it.
CREATE TABLE mail_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  template TEXT NOT NULL,
  message_sealed TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  give_up_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mail_outbox_due ON mail_outbox (next_at, ord);

-- What development sent instead of handing it to a provider; empty everywhere else.
CREATE TABLE captured_mail (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  recipient_index TEXT NOT NULL,
  message_sealed TEXT NOT NULL,
  sent_at INTEGER NOT NULL
) STRICT;
CREATE INDEX captured_mail_recipient ON captured_mail (recipient_index, ord);
