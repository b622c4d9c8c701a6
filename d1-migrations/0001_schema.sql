-- The schema of a shard: every table, index and trigger, grouped by subject. Later migrations only add to it.
--
-- storage/schema.ts declares the same tables for drizzle, and a test compares the two. This file is written by hand because drizzle-kit
-- cannot express STRICT tables or triggers. Times are milliseconds since 1970 (UTC) unless a comment says otherwise.
-- docs/internals/storage.md describes every column.

-- Businesses and their clients

CREATE TABLE businesses (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  legal_name TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'past_due', 'suspended', 'closed')),
  plan TEXT NOT NULL CHECK (plan IN ('free', 'business', 'enterprise')),
  country TEXT NOT NULL DEFAULT 'US',
  mailing_address TEXT,
  contact_email TEXT,
  emit_certificate_issued INTEGER NOT NULL DEFAULT 0,
  retention_years INTEGER NOT NULL DEFAULT 5 CHECK (retention_years BETWEEN 1 AND 10),
  audit_chain TEXT NOT NULL UNIQUE,
  -- Triggers increase it with every change of the account, its domains or its clients. A change based on an older revision fails.
  revision INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  revocation_scope_default TEXT NOT NULL DEFAULT 'business' CHECK (revocation_scope_default IN ('certificate', 'business')),
  contact_phone TEXT,
  logo_url TEXT
) STRICT;

CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  domain TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'lapsed')),
  method TEXT CHECK (method IN ('dns', 'meta', 'well_known')),
  verified_at INTEGER,
  created_at INTEGER NOT NULL,
  token TEXT,
  expires_at INTEGER,
  checked_at INTEGER,
  next_check_at INTEGER,
  misses INTEGER NOT NULL DEFAULT 0,
  lapses_at INTEGER,
  UNIQUE (business_id, domain),
  CHECK (status <> 'verified' OR method IS NOT NULL)
) STRICT;
CREATE INDEX domains_checks ON domains (next_check_at) WHERE status = 'verified' AND next_check_at IS NOT NULL;
CREATE INDEX domains_expiry ON domains (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;

CREATE TABLE clients (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  daily_submission_limit INTEGER,
  daily_byte_limit INTEGER,
  require_origin INTEGER NOT NULL DEFAULT 0 CHECK (require_origin IN (0, 1)),
  return_urls TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX clients_business ON clients (business_id);

CREATE TABLE client_daily_usage (
  client_id TEXT NOT NULL REFERENCES clients (id),
  day INTEGER NOT NULL,
  -- Computed in the insert. It is NULL beyond the daily limit, so the batch is rolled back.
  submissions INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  -- Submissions with a combination of purpose, recipients and origin that no earlier certificate has.
  new_groups INTEGER NOT NULL DEFAULT 0,
  -- When the owners were warned that usage is near the limit.
  warned_at INTEGER,
  PRIMARY KEY (client_id, day)
) STRICT;
CREATE INDEX client_daily_usage_age ON client_daily_usage (day);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  key_hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  last4 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  last_used_at INTEGER
) STRICT;
CREATE INDEX api_keys_active ON api_keys (business_id) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_revoked ON api_keys (business_id, revoked_at, id) WHERE revoked_at IS NOT NULL;

CREATE TABLE saved_views (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (business_id, name)
) STRICT;

CREATE TABLE linked_recipients (
  -- The business that issues the certificates.
  business_id TEXT NOT NULL REFERENCES businesses (id),
  -- The business that the issuer knows under this name, in any shard.
  recipient_id TEXT NOT NULL,
  -- The recipient's name, as on the issuer's certificates.
  entity TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (business_id, recipient_id, entity)
) STRICT;

CREATE TABLE daily_activity (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- The start of the day (UTC).
  day INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL DEFAULT 0,
  -- Acknowledgments for certificates, individual recipients and shares.
  on_time INTEGER NOT NULL DEFAULT 0,
  late INTEGER NOT NULL DEFAULT 0,
  issued INTEGER NOT NULL DEFAULT 0,
  opened INTEGER NOT NULL DEFAULT 0,
  granted INTEGER NOT NULL DEFAULT 0,
  revoked INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (business_id, environment, day)
) STRICT;

CREATE TABLE sandbox_clocks (
  business_id TEXT PRIMARY KEY REFERENCES businesses (id),
  offset_ms INTEGER NOT NULL CHECK (offset_ms >= 0),
  moved_at INTEGER NOT NULL
) STRICT;

-- The other shards into which a business issues certificates. These rows are in the account's shard. The shard that was started last is the
-- current one.
CREATE TABLE issuing_shards (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  shard TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  -- Until this time, the shard issues no certificates for the account. Only the batch that changes the account sets and clears this time.
  held_until INTEGER NOT NULL,
  PRIMARY KEY (business_id, shard)
) STRICT, WITHOUT ROWID;

-- The accounts of other shards that issue certificates into this one.
CREATE TABLE issuers (
  business_id TEXT PRIMARY KEY,
  -- Certificates can be issued only for this revision of the account; NULL while the account is being changed.
  revision INTEGER,
  held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX issuers_held ON issuers (held_until) WHERE revision IS NULL;

CREATE TRIGGER businesses_revised AFTER UPDATE ON businesses WHEN NEW.revision = OLD.revision BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.id;
END;

-- The margin of five seconds allows for clock differences between the two databases.
CREATE TRIGGER businesses_held BEFORE UPDATE OF revision ON businesses
WHEN EXISTS (SELECT 1 FROM issuing_shards WHERE business_id = NEW.id AND held_until < CAST(unixepoch('subsec') * 1000 AS INTEGER) + 5000)
BEGIN SELECT RAISE(ABORT, 'the issuing shards of an account must be held while it changes'); END;

CREATE TRIGGER issuing_shards_added AFTER INSERT ON issuing_shards BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id;
END;

CREATE TRIGGER issuing_shards_restarted AFTER UPDATE OF started_at ON issuing_shards BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id;
END;

CREATE TRIGGER domains_added AFTER INSERT ON domains WHEN NEW.status = 'verified' BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id;
END;

CREATE TRIGGER domains_changed AFTER UPDATE OF domain, status, method ON domains BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id;
END;

CREATE TRIGGER domains_removed AFTER DELETE ON domains WHEN OLD.status <> 'pending' BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = OLD.business_id;
END;

CREATE TRIGGER clients_added AFTER INSERT ON clients BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id; END;

CREATE TRIGGER clients_changed AFTER UPDATE OF environment, require_origin, return_urls ON clients BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id;
END;

CREATE TRIGGER clients_removed AFTER DELETE ON clients BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = OLD.business_id; END;

-- Members, consumers and signing in

CREATE TABLE members (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  email_sealed TEXT NOT NULL,
  email_index TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at INTEGER NOT NULL,
  -- When a session in the membership last began.
  last_used_at INTEGER,
  UNIQUE (business_id, email_index)
) STRICT;
CREATE INDEX members_address ON members (email_index, last_used_at, created_at, id);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  email_index TEXT NOT NULL,
  email_sealed TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The owner who sent the invitation; NULL if unknown. The owner may have been removed since.
  invited_by TEXT,
  UNIQUE (business_id, email_index)
) STRICT;
CREATE INDEX invitations_address ON invitations (email_index, expires_at);
CREATE INDEX invitations_expiry ON invitations (expires_at);

CREATE TABLE signups (
  id TEXT PRIMARY KEY,
  email_index TEXT NOT NULL,
  email_sealed TEXT NOT NULL,
  request_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX signups_address ON signups (email_index, expires_at);
CREATE INDEX signups_expiry ON signups (expires_at);

CREATE TABLE consumers (
  id TEXT PRIMARY KEY,
  email_sealed TEXT NOT NULL,
  email_index TEXT NOT NULL UNIQUE,
  -- As given at the first sign-in; NULL when none was given.
  name_sealed TEXT,
  audit_chain TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  fields_sealed TEXT,
  fields_revision INTEGER NOT NULL DEFAULT 0,
  erased_at INTEGER,
  plan TEXT NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'white_glove'))
) STRICT;

CREATE TABLE consumer_shards (
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  shard TEXT NOT NULL,
  PRIMARY KEY (consumer_id, shard)
) STRICT;

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business', 'invited')),
  user_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  id TEXT NOT NULL DEFAULT '',
  device_sealed TEXT,
  seen_day INTEGER,
  verified_at INTEGER,
  has_other_shards INTEGER NOT NULL DEFAULT 0 CHECK (has_other_shards IN (0, 1)),
  -- The verified address of a person who has an invitation but is not a member yet; NULL for everyone else.
  address_sealed TEXT,
  CHECK ((realm = 'invited') = (address_sealed IS NOT NULL))
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  -- A row in consumers or members.
  user_id TEXT NOT NULL,
  -- The passkey's ID on the authenticator.
  credential_id TEXT NOT NULL UNIQUE,
  -- The account's ID on the authenticator: the shard and 30 random bytes, the same for all passkeys of an account.
  user_handle TEXT NOT NULL,
  -- COSE key, base64url.
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  name_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_day INTEGER
) STRICT;
CREATE INDEX passkeys_user ON passkeys (user_id);

CREATE TABLE webauthn_challenges (
  challenge_hash TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('add', 'sign_in')),
  -- The session that adds a passkey, and the user handle that it is offered; NULL for signing in.
  session_hash TEXT,
  user_handle TEXT,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX webauthn_challenges_expiry ON webauthn_challenges (expires_at);

CREATE TABLE email_codes (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  -- The scope of the code within its purpose: business and environment, or a realm.
  topic TEXT NOT NULL,
  -- The blind index of the email address. If the address is not on the certificate, a value that does not match any address.
  address_index TEXT NOT NULL,
  -- The certificate that the code was requested for. Erasing its personal data deletes the row.
  cert_id TEXT REFERENCES certificates (id),
  code_hash TEXT NOT NULL,
  -- Hash of the requesting browser's cookie; NULL where browsers are not distinguished.
  context_hash TEXT,
  same_context_attempts INTEGER NOT NULL DEFAULT 0,
  other_context_attempts INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  -- Computed in the insert. Equal to created_at if a limit was reached.
  expires_at INTEGER NOT NULL,
  -- The session that used the code.
  session_hash TEXT,
  signup_id TEXT
) STRICT;
CREATE INDEX email_codes_address ON email_codes (purpose, address_index, topic, created_at);
CREATE INDEX email_codes_age ON email_codes (created_at);
CREATE INDEX email_codes_cert ON email_codes (cert_id) WHERE cert_id IS NOT NULL;

CREATE TABLE email_code_failures (
  purpose TEXT NOT NULL,
  topic TEXT NOT NULL,
  address_index TEXT NOT NULL,
  -- The certificate of the last failure. Erasing its personal data deletes the row.
  cert_id TEXT REFERENCES certificates (id),
  failures INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (purpose, topic, address_index)
) STRICT;
CREATE INDEX email_code_failures_age ON email_code_failures (updated_at);
CREATE INDEX email_code_failures_cert ON email_code_failures (cert_id) WHERE cert_id IS NOT NULL;

CREATE TRIGGER members_owner_demoted BEFORE UPDATE OF role ON members WHEN OLD.role = 'owner' AND NEW.role <> 'owner'
  AND NOT EXISTS (SELECT 1 FROM members WHERE business_id = OLD.business_id AND role = 'owner' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'a business must have an owner'); END;

CREATE TRIGGER members_owner_removed BEFORE DELETE ON members WHEN OLD.role = 'owner'
  AND NOT EXISTS (SELECT 1 FROM members WHERE business_id = OLD.business_id AND role = 'owner' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'a business must have an owner'); END;

CREATE TRIGGER sessions_named AFTER INSERT ON sessions WHEN NEW.id = '' BEGIN
  UPDATE sessions SET id = 'ssn_' || substr(user_id, 5, 2) || lower(hex(randomblob(12))) WHERE token_hash = NEW.token_hash;
END;

-- A person has at most 100 sessions; a new one ends the oldest. This limits the cost of listing a person's sessions and of ending all of
-- them.
CREATE TRIGGER sessions_limited AFTER INSERT ON sessions BEGIN
  DELETE FROM sessions WHERE token_hash IN (
    SELECT token_hash FROM sessions WHERE user_id = NEW.user_id ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET 100);
END;

CREATE TRIGGER members_used AFTER INSERT ON sessions WHEN NEW.realm = 'business' BEGIN
  UPDATE members SET last_used_at = NEW.created_at WHERE id = NEW.user_id;
END;

-- Agent tokens and OAuth

CREATE TABLE agent_tokens (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business')),
  -- The consumer or member. Not a reference, because the person can be deleted, which makes the token void.
  principal_id TEXT NOT NULL,
  -- NULL for a consumer.
  business_id TEXT REFERENCES businesses (id),
  name_sealed TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Whole days since 1970; NULL until the first tool call.
  last_used_day INTEGER,
  -- When the person was last notified of a change made with the token.
  notified_at INTEGER,
  revoked_at INTEGER,
  source TEXT NOT NULL DEFAULT 'minted' CHECK (source IN ('minted', 'oauth')),
  client_id TEXT,
  client_host TEXT,
  redirect_host TEXT,
  language TEXT CHECK (language IN ('en', 'es', 'fr-CA')),
  expiry_notified_at INTEGER,
  CHECK ((realm = 'business') = (business_id IS NOT NULL))
) STRICT;
CREATE INDEX agent_tokens_principal ON agent_tokens (principal_id);
CREATE INDEX agent_tokens_business ON agent_tokens (business_id, expires_at) WHERE revoked_at IS NULL AND business_id IS NOT NULL;
CREATE INDEX agent_tokens_live ON agent_tokens (principal_id, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX agent_tokens_expiry ON agent_tokens (expires_at);
CREATE INDEX agent_tokens_ending ON agent_tokens (expires_at) WHERE source = 'oauth' AND revoked_at IS NULL AND expiry_notified_at IS NULL;

CREATE TABLE oauth_codes (
  code_hash TEXT PRIMARY KEY,
  -- Hash of the authorization page's nonce, so that submitting the page twice creates only one code.
  nonce_hash TEXT NOT NULL UNIQUE,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business')),
  principal_id TEXT NOT NULL,
  business_id TEXT REFERENCES businesses (id),
  client_id TEXT NOT NULL,
  client_name TEXT,
  client_host TEXT,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  -- 1 if this code's token revokes earlier tokens of the same client.
  replaces INTEGER NOT NULL CHECK (replaces IN (0, 1)),
  language TEXT NOT NULL CHECK (language IN ('en', 'es', 'fr-CA')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- The token that was issued for the code.
  token_id TEXT,
  CHECK ((realm = 'business') = (business_id IS NOT NULL)),
  CHECK ((used_at IS NULL) = (token_id IS NULL))
) STRICT;
CREATE INDEX oauth_codes_age ON oauth_codes (expires_at);

CREATE TABLE oauth_clients (
  url TEXT PRIMARY KEY,
  -- The parts of the document that are used: name and redirect URIs, as JSON.
  document TEXT NOT NULL,
  -- When it was fetched. It is used for seven days.
  fetched_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_clients_age ON oauth_clients (fetched_at);

-- Certificates

CREATE TABLE purposes (
  id INTEGER PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  purpose TEXT NOT NULL,
  purpose_folded TEXT NOT NULL,
  UNIQUE (business_id, environment, purpose)
) STRICT;

CREATE TABLE certificate_totals (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  active INTEGER NOT NULL DEFAULT 0 CHECK (active >= 0),
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked >= 0),
  -- The number of groups that have counters. It is limited.
  counted_groups INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (business_id, environment)
) STRICT;

-- The columns of a record that refer to a text, a list of recipients, a purpose or a form are not foreign keys. If they were, SQLite would
-- read every record whenever such a row is deleted. They always refer to existing rows: a record is written in the same transaction as these
-- rows, the rows of live records are never deleted, and a row of test records is deleted only by a statement that finds no record that
-- refers to it.
CREATE TABLE disclosures (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  -- Sandbox until the first live record has this text.
  environment TEXT NOT NULL DEFAULT 'live' CHECK (environment IN ('live', 'sandbox'))
) STRICT;

CREATE TABLE entity_lists (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  entities TEXT NOT NULL,
  -- Sandbox until the first live record has this list.
  environment TEXT NOT NULL DEFAULT 'live' CHECK (environment IN ('live', 'sandbox'))
) STRICT;

CREATE TABLE listed_entities (
  list_id INTEGER NOT NULL REFERENCES entity_lists (id),
  entity TEXT NOT NULL,
  PRIMARY KEY (list_id, entity)
) STRICT, WITHOUT ROWID;

CREATE TABLE certificate_groups (
  id INTEGER PRIMARY KEY,
  purpose_id INTEGER NOT NULL REFERENCES purposes (id),
  entity_list_id INTEGER NOT NULL REFERENCES entity_lists (id),
  origin_domain TEXT NOT NULL,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- 1 if the group has counters and searches read it; 0 beyond the limits for new groups.
  counted INTEGER NOT NULL DEFAULT 1 CHECK (counted IN (0, 1)),
  active INTEGER NOT NULL DEFAULT 0 CHECK (active >= 0),
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked >= 0),
  UNIQUE (purpose_id, entity_list_id, origin_domain)
) STRICT;
CREATE INDEX certificate_groups_list ON certificate_groups (entity_list_id);
CREATE INDEX certificate_groups_counted ON certificate_groups (business_id, environment) WHERE counted = 1;

CREATE TABLE certificate_tallies (
  group_id INTEGER NOT NULL REFERENCES certificate_groups (id),
  span INTEGER NOT NULL,
  start INTEGER NOT NULL,
  active INTEGER NOT NULL DEFAULT 0 CHECK (active >= 0),
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked >= 0),
  PRIMARY KEY (group_id, span, start)
) STRICT;

-- One row: the newest certificate that the totals, groups, tallies and days include.
CREATE TABLE counted_certificates (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  ord INTEGER NOT NULL
) STRICT;

-- For each block of certificates, when the next person in it can be erased. A block consists of consecutive certificates that were
-- counted together. The retention sweep uses these rows instead of an index, which would cost one row for each certificate.
CREATE TABLE retention_blocks (
  first_ord INTEGER PRIMARY KEY,
  last_ord INTEGER NOT NULL,
  next_due INTEGER NOT NULL
) STRICT;
CREATE INDEX retention_blocks_due ON retention_blocks (next_due);

-- What the certificates of a form have in common. A certificate refers to its row here, because repeating these values in each certificate
-- would take 170 bytes.
CREATE TABLE certificate_forms (
  id INTEGER PRIMARY KEY,
  disclosure_hash TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (id),
  -- The name of the business at issuance.
  business_name TEXT NOT NULL,
  captured_via TEXT NOT NULL CHECK (captured_via IN ('browser', 'server')),
  signature_kid TEXT NOT NULL,
  UNIQUE (disclosure_hash, client_id, business_name, captured_via, signature_kid)
) STRICT;

CREATE TABLE certificates (
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  -- Computed in the insert. It is NULL if the account has changed, so the batch is rolled back.
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
  form_id INTEGER NOT NULL,
  purpose_id INTEGER NOT NULL,
  -- The recipients that the person accepted and rejected; NULL if the form did not ask about each one.
  accepted_list_id INTEGER,
  rejected_list_id INTEGER,
  issued_at INTEGER NOT NULL,
  fingerprint BLOB NOT NULL,
  subject_hash BLOB NOT NULL,
  subject_masked TEXT NOT NULL,
  -- The person's fields, the salt of their commitments, and the evidence, sealed with one key. NULL once the person's data is erased.
  person_sealed BLOB,
  subject_erased_at INTEGER,
  -- Blind indexes of all email addresses and phone numbers, as JSON lists. NULL once the person's data is erased.
  email_indexes TEXT,
  phone_indexes TEXT,
  evidence_hash BLOB NOT NULL,
  gpc INTEGER NOT NULL DEFAULT 0 CHECK (gpc IN (0, 1)),
  signature BLOB NOT NULL,
  -- The ord of its policy capture.
  policy_capture_id INTEGER,
  view_count INTEGER NOT NULL DEFAULT 0,
  view_rows INTEGER NOT NULL DEFAULT 0,
  retention_until INTEGER NOT NULL,
  group_id INTEGER REFERENCES certificate_groups (id),
  -- The same value as in the certificate's group.
  counted INTEGER NOT NULL DEFAULT 1 CHECK (counted IN (0, 1)),
  -- Notes on changed or omitted values, as published; NULL if there are none.
  submission_notes TEXT,
  -- The number of the change that issued the certificate.
  change_ord INTEGER NOT NULL,
  -- The page whose policies the certificate waits for.
  policy_page_id INTEGER REFERENCES policy_pages (ord),
  -- The salt of the issuance's audit entry, if the entry is rebuilt from the certificate. NULL if it is in audit_entries.
  audit_salt BLOB,
  CHECK ((accepted_list_id IS NULL) = (rejected_list_id IS NULL)),
  CHECK ((person_sealed IS NULL) = (subject_erased_at IS NOT NULL))
) STRICT;
CREATE INDEX certificates_listed ON certificates (business_id, environment, issued_at);
CREATE INDEX certificates_revoked ON certificates (business_id, environment, issued_at) WHERE status = 'revoked';
CREATE INDEX certificates_group ON certificates (group_id, status, issued_at);
CREATE INDEX certificates_awaiting_policies ON certificates (policy_page_id) WHERE policy_page_id IS NOT NULL;
CREATE INDEX certificates_test_age ON certificates (issued_at) WHERE environment = 'sandbox';
CREATE INDEX certificates_test_form ON certificates (form_id) WHERE environment = 'sandbox';
CREATE INDEX certificates_test_accepted ON certificates (accepted_list_id) WHERE environment = 'sandbox';
CREATE INDEX certificates_test_rejected ON certificates (rejected_list_id) WHERE environment = 'sandbox';
CREATE INDEX certificates_test_policies ON certificates (policy_capture_id) WHERE environment = 'sandbox';
CREATE INDEX certificates_without_counters ON certificates (business_id, environment, issued_at) WHERE counted = 0;

-- The email addresses and phone numbers on certificates, up to five of each. Every search for a person uses this table. The primary key
-- contains all columns, so an address costs one row. No column is a foreign key, because SQLite would read the whole table when a
-- certificate is deleted. The certificate's own lists lead to its rows here.
CREATE TABLE certificate_addresses (
  address_index TEXT NOT NULL,
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- 0 once the certificate is revoked.
  active INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)),
  business_id TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  cert_ord INTEGER NOT NULL,
  PRIMARY KEY (address_index, environment, active, business_id, issued_at, cert_ord)
) STRICT, WITHOUT ROWID;

-- A second text that was signed under an existing certificate ID, because both were issued for one submission.
CREATE TABLE certificate_twins (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  fingerprint TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  canonical TEXT NOT NULL,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  manage_token_hash TEXT NOT NULL,
  PRIMARY KEY (cert_id, fingerprint)
) STRICT;

CREATE TABLE certificate_views (
  ord INTEGER PRIMARY KEY,
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  at INTEGER NOT NULL,
  viewer_sealed TEXT NOT NULL,
  bot INTEGER NOT NULL CHECK (bot IN (0, 1))
) STRICT;
CREATE INDEX certificate_views_cert ON certificate_views (cert_id, ord);

CREATE TABLE match_misses (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  -- The business that guessed, in any shard.
  caller_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  misses INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (cert_id, caller_id, day)
) STRICT;
CREATE INDEX match_misses_age ON match_misses (day);

CREATE TRIGGER disclosures_immutable BEFORE UPDATE OF hash, text ON disclosures
BEGIN SELECT RAISE(ABORT, 'a disclosure is immutable'); END;

CREATE TRIGGER disclosures_environment BEFORE UPDATE OF environment ON disclosures WHEN OLD.environment = 'live' OR NEW.environment <> 'live'
BEGIN SELECT RAISE(ABORT, 'the environment of a live text is immutable'); END;

CREATE TRIGGER disclosures_kept BEFORE DELETE ON disclosures WHEN OLD.environment <> 'sandbox'
BEGIN SELECT RAISE(ABORT, 'a text of a live record is never deleted'); END;

CREATE TRIGGER entity_lists_immutable BEFORE UPDATE OF id, hash, entities ON entity_lists
BEGIN SELECT RAISE(ABORT, 'a list of recipients is immutable'); END;

CREATE TRIGGER entity_lists_environment BEFORE UPDATE OF environment ON entity_lists WHEN OLD.environment = 'live' OR NEW.environment <> 'live'
BEGIN SELECT RAISE(ABORT, 'the environment of a live text is immutable'); END;

CREATE TRIGGER entity_lists_kept BEFORE DELETE ON entity_lists WHEN OLD.environment <> 'sandbox'
BEGIN SELECT RAISE(ABORT, 'a text of a live record is never deleted'); END;

CREATE TRIGGER entity_lists_unnamed BEFORE DELETE ON entity_lists WHEN OLD.environment = 'sandbox' BEGIN
  DELETE FROM listed_entities WHERE list_id = OLD.id;
END;

CREATE TRIGGER entity_lists_named AFTER INSERT ON entity_lists BEGIN
  INSERT OR IGNORE INTO listed_entities (list_id, entity) SELECT NEW.id, value FROM json_each(NEW.entities);
END;

CREATE TRIGGER certificate_groups_limited AFTER INSERT ON certificate_groups WHEN NEW.counted = 1 BEGIN
  INSERT INTO certificate_totals (business_id, environment, counted_groups) VALUES (NEW.business_id, NEW.environment, 1)
    ON CONFLICT (business_id, environment) DO UPDATE SET counted_groups = counted_groups + 1;
END;

CREATE TRIGGER certificate_groups_unlimited AFTER DELETE ON certificate_groups WHEN OLD.counted = 1 BEGIN
  UPDATE certificate_totals SET counted_groups = counted_groups - 1 WHERE business_id = OLD.business_id AND environment = OLD.environment;
END;

CREATE TRIGGER certificate_groups_immutable BEFORE UPDATE OF
  id, purpose_id, entity_list_id, origin_domain, business_id, environment, counted
ON certificate_groups
BEGIN SELECT RAISE(ABORT, 'the key of a certificate group is immutable'); END;

CREATE TRIGGER certificate_forms_immutable BEFORE UPDATE ON certificate_forms
BEGIN SELECT RAISE(ABORT, 'a certificate is immutable'); END;

CREATE TRIGGER certificate_forms_kept BEFORE DELETE ON certificate_forms
WHEN NOT EXISTS (SELECT 1 FROM clients WHERE id = OLD.client_id AND environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'the form of a live certificate is never deleted'); END;

CREATE TRIGGER certificates_kept BEFORE DELETE ON certificates WHEN OLD.environment <> 'sandbox'
BEGIN SELECT RAISE(ABORT, 'a live certificate is never deleted'); END;

CREATE TRIGGER certificates_policies_linked BEFORE UPDATE OF policy_capture_id ON certificates WHEN OLD.policy_capture_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'policies can be linked to a certificate only once'); END;

CREATE TRIGGER certificates_withdrawn BEFORE UPDATE OF status ON certificates
WHEN OLD.status = 'revoked' OR NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.cert_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a certificate can be revoked only once, by a withdrawal'); END;

-- A sealed value may also be rewrapped with another master key. That changes its prefix and its wrapped key (the 40
-- bytes after the dot), but never the ciphertext. An index may also be encrypted with another key, which has a higher number.
CREATE TRIGGER certificates_person BEFORE UPDATE OF
  subject_masked, person_sealed, subject_erased_at, email_indexes, phone_indexes
ON certificates
WHEN (OLD.subject_erased_at IS NOT NULL OR NEW.subject_erased_at IS NULL OR NEW.subject_masked <> '{}'
  OR NEW.email_indexes IS NOT NULL OR NEW.phone_indexes IS NOT NULL)
  AND NOT (NEW.subject_masked = OLD.subject_masked AND NEW.subject_erased_at IS OLD.subject_erased_at
    AND NEW.email_indexes IS OLD.email_indexes AND NEW.phone_indexes IS OLD.phone_indexes
    AND NEW.person_sealed IS NOT OLD.person_sealed
    AND substr(NEW.person_sealed, instr(NEW.person_sealed, x'2e') + 41) IS substr(OLD.person_sealed, instr(OLD.person_sealed, x'2e') + 41))
  AND NOT (NEW.subject_masked = OLD.subject_masked AND NEW.subject_erased_at IS OLD.subject_erased_at
    AND NEW.person_sealed IS OLD.person_sealed
    AND (NEW.email_indexes IS NOT OLD.email_indexes OR NEW.phone_indexes IS NOT OLD.phone_indexes)
    AND json_array_length(NEW.email_indexes) IS json_array_length(OLD.email_indexes)
    AND json_array_length(NEW.phone_indexes) IS json_array_length(OLD.phone_indexes)
    AND NOT EXISTS (
      SELECT 1 FROM (SELECT 'e' || key AS at, value FROM json_each(NEW.email_indexes)
          UNION ALL SELECT 'p' || key, value FROM json_each(NEW.phone_indexes)) AS later
        JOIN (SELECT 'e' || key AS at, value FROM json_each(OLD.email_indexes)
          UNION ALL SELECT 'p' || key, value FROM json_each(OLD.phone_indexes)) AS earlier ON earlier.at = later.at
        WHERE later.value <> earlier.value
          AND NOT (later.value GLOB '[1-9]*.*' AND (earlier.value NOT GLOB '*.*' OR CAST(later.value AS INTEGER) > CAST(earlier.value AS INTEGER)))))
BEGIN SELECT RAISE(ABORT, 'the person of a certificate can be erased only once and only completely'); END;

CREATE TRIGGER certificates_retention_changed AFTER UPDATE OF retention_until ON certificates BEGIN
  UPDATE retention_blocks SET next_due = min(next_due, NEW.retention_until) WHERE first_ord <= NEW.ord AND last_ord >= NEW.ord;
END;

CREATE TRIGGER certificates_addresses_erased AFTER UPDATE OF subject_erased_at ON certificates WHEN NEW.subject_erased_at IS NOT NULL BEGIN
  DELETE FROM certificate_addresses
    WHERE address_index IN (SELECT value FROM json_each(OLD.email_indexes) UNION ALL SELECT value FROM json_each(OLD.phone_indexes))
      AND environment = OLD.environment AND active = (OLD.status = 'active') AND business_id = OLD.business_id
      AND issued_at = OLD.issued_at AND cert_ord = OLD.ord;
END;

CREATE TRIGGER certificates_addresses_deleted AFTER DELETE ON certificates BEGIN
  DELETE FROM certificate_addresses
    WHERE address_index IN (SELECT value FROM json_each(OLD.email_indexes) UNION ALL SELECT value FROM json_each(OLD.phone_indexes))
      AND environment = OLD.environment AND active = (OLD.status = 'active') AND business_id = OLD.business_id
      AND issued_at = OLD.issued_at AND cert_ord = OLD.ord;
END;

CREATE TRIGGER certificates_twins_erased AFTER UPDATE OF subject_erased_at ON certificates WHEN NEW.subject_erased_at IS NOT NULL BEGIN
  UPDATE certificate_twins SET manage_token_hash = '' WHERE cert_id = NEW.id;
END;

-- An index may only be encrypted with another key, which has a higher number.
CREATE TRIGGER certificate_addresses_immutable BEFORE UPDATE OF address_index, environment, business_id, issued_at, cert_ord
ON certificate_addresses
WHEN NEW.environment <> OLD.environment OR NEW.business_id <> OLD.business_id OR NEW.issued_at <> OLD.issued_at
  OR NEW.cert_ord <> OLD.cert_ord OR NOT (NEW.address_index GLOB '[1-9]*.*'
    AND (OLD.address_index NOT GLOB '*.*' OR CAST(NEW.address_index AS INTEGER) > CAST(OLD.address_index AS INTEGER)))
BEGIN SELECT RAISE(ABORT, 'a certificate is immutable'); END;

CREATE TRIGGER certificates_immutable BEFORE UPDATE OF
  ord, id, business_id, environment, form_id, purpose_id, group_id, counted, accepted_list_id, rejected_list_id, issued_at, gpc, fingerprint,
  subject_hash, evidence_hash, signature, submission_notes, change_ord, audit_salt
ON certificates BEGIN SELECT RAISE(ABORT, 'a certificate is immutable'); END;

CREATE TRIGGER certificates_recounted AFTER UPDATE OF status ON certificates WHEN OLD.status = 'active' AND NEW.status = 'revoked' BEGIN
  UPDATE certificate_addresses SET active = 0
    WHERE address_index IN (SELECT value FROM json_each(NEW.email_indexes) UNION ALL SELECT value FROM json_each(NEW.phone_indexes))
      AND environment = NEW.environment AND active = 1 AND business_id = NEW.business_id AND issued_at = NEW.issued_at
      AND cert_ord = NEW.ord;
END;

-- Skips certificates that the counters do not include yet.
CREATE TRIGGER certificates_regrouped AFTER UPDATE OF status ON certificates
WHEN OLD.status = 'active' AND NEW.status = 'revoked' AND NEW.ord <= (SELECT ord FROM counted_certificates) BEGIN
  UPDATE certificate_totals SET active = active - 1, revoked = revoked + 1
    WHERE business_id = NEW.business_id AND environment = NEW.environment;
  UPDATE certificate_groups SET active = active - 1, revoked = revoked + 1 WHERE id = NEW.group_id AND NEW.counted = 1;
  UPDATE certificate_tallies SET active = active - 1, revoked = revoked + 1
    WHERE NEW.counted = 1 AND group_id = NEW.group_id AND span IN (3600000, 86400000) AND start = NEW.issued_at - NEW.issued_at % span;
END;

CREATE TRIGGER certificates_uncounted AFTER DELETE ON certificates WHEN OLD.ord <= (SELECT ord FROM counted_certificates) BEGIN
  UPDATE certificate_totals SET active = active - (OLD.status = 'active'), revoked = revoked - (OLD.status = 'revoked')
    WHERE business_id = OLD.business_id AND environment = OLD.environment;
  UPDATE certificate_groups SET active = active - (OLD.status = 'active'), revoked = revoked - (OLD.status = 'revoked')
    WHERE id = OLD.group_id AND OLD.counted = 1;
  UPDATE certificate_tallies SET active = active - (OLD.status = 'active'), revoked = revoked - (OLD.status = 'revoked')
    WHERE OLD.counted = 1 AND group_id = OLD.group_id AND span IN (3600000, 86400000) AND start = OLD.issued_at - OLD.issued_at % span;
  -- Once the newest certificate is deleted, the next one can get its number. That one must not count as included.
  UPDATE counted_certificates SET ord = (SELECT coalesce(max(ord), 0) FROM certificates)
    WHERE ord > (SELECT coalesce(max(ord), 0) FROM certificates);
END;

CREATE TRIGGER certificate_views_dated AFTER INSERT ON certificate_views WHEN NEW.bot = 0 BEGIN
  INSERT INTO daily_activity (business_id, environment, day, opened)
    SELECT business_id, environment, NEW.at - NEW.at % 86400000, 1 FROM certificates WHERE id = NEW.cert_id
    ON CONFLICT (business_id, environment, day) DO UPDATE SET opened = opened + 1;
END;

-- Policy snapshots

CREATE TABLE policy_snapshots (
  id TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('privacy', 'terms')),
  source_url TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  captured_at INTEGER NOT NULL,
  UNIQUE (domain, kind, content_hash)
) STRICT;

CREATE TABLE policy_captures (
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  domain TEXT NOT NULL,
  captured_at INTEGER NOT NULL,
  privacy_id TEXT REFERENCES policy_snapshots (id),
  terms_id TEXT REFERENCES policy_snapshots (id),
  origin TEXT NOT NULL DEFAULT '',
  page TEXT,
  -- Sandbox until the first live certificate is linked to this capture.
  environment TEXT NOT NULL DEFAULT 'sandbox' CHECK (environment IN ('live', 'sandbox'))
) STRICT;
CREATE INDEX policy_captures_origin ON policy_captures (origin, captured_at);
CREATE INDEX policy_captures_privacy ON policy_captures (privacy_id) WHERE privacy_id IS NOT NULL;
CREATE INDEX policy_captures_terms ON policy_captures (terms_id) WHERE terms_id IS NOT NULL;

-- Snapshots that were deleted and whose texts are still in KV.
CREATE TABLE deleted_policy_texts (
  snapshot_id TEXT PRIMARY KEY
) STRICT;

-- Pages whose policies must be captured. All certificates that wait for a page share its row.
CREATE TABLE policy_pages (
  -- A number is never used again, because a late worker may still have it.
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  -- Empty for certificates beyond the limit of pages.
  origin TEXT NOT NULL,
  page TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (business_id, origin, page)
) STRICT;
CREATE INDEX policy_pages_due ON policy_pages (next_at, ord);

CREATE TABLE policy_turns (
  business_id TEXT PRIMARY KEY,
  taken_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;

CREATE TRIGGER policy_snapshots_immutable BEFORE UPDATE ON policy_snapshots BEGIN SELECT RAISE(ABORT, 'a policy snapshot is immutable'); END;

CREATE TRIGGER policy_snapshots_deleted AFTER DELETE ON policy_snapshots BEGIN
  INSERT INTO deleted_policy_texts (snapshot_id) VALUES (OLD.id);
END;

CREATE TRIGGER policy_captures_environment BEFORE UPDATE OF environment ON policy_captures
WHEN OLD.environment = 'live' OR NEW.environment <> 'live'
BEGIN SELECT RAISE(ABORT, 'the environment of a live capture is immutable'); END;

CREATE TRIGGER policy_captures_kept BEFORE DELETE ON policy_captures WHEN OLD.environment <> 'sandbox'
BEGIN SELECT RAISE(ABORT, 'a capture of a live certificate is never deleted'); END;

CREATE TRIGGER certificates_policies_shared AFTER INSERT ON certificates WHEN NEW.environment = 'live' AND NEW.policy_capture_id IS NOT NULL BEGIN
  UPDATE policy_captures SET environment = 'live' WHERE ord = NEW.policy_capture_id AND environment = 'sandbox';
END;

CREATE TRIGGER certificates_policies_captured AFTER UPDATE OF policy_capture_id ON certificates
WHEN NEW.environment = 'live' AND NEW.policy_capture_id IS NOT NULL BEGIN
  UPDATE policy_captures SET environment = 'live' WHERE ord = NEW.policy_capture_id AND environment = 'sandbox';
END;

-- Withdrawals

CREATE TABLE withdrawals (
  cert_id TEXT PRIMARY KEY REFERENCES certificates (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  withdrawn_at INTEGER NOT NULL,
  cease_by INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link', 'business_recorded')),
  scope TEXT NOT NULL CHECK (scope IN ('certificate', 'business')),
  -- How the person contacted the business; NULL unless the business recorded the withdrawal.
  channel TEXT CHECK (channel IN ('sms_stop', 'phone', 'mail', 'email', 'in_person', 'other')),
  received_at INTEGER,
  note_sealed TEXT,
  -- The signed text, byte for byte.
  receipt TEXT NOT NULL,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  acknowledged INTEGER NOT NULL DEFAULT 0 CHECK (acknowledged IN (0, 1)),
  CHECK ((method = 'business_recorded') = (channel IS NOT NULL)),
  CHECK ((channel IS NULL) = (received_at IS NULL)),
  CHECK (channel IS NOT NULL OR note_sealed IS NULL)
) STRICT;
CREATE INDEX withdrawals_deadline ON withdrawals (business_id, environment, cease_by) WHERE acknowledged = 0;

CREATE TABLE cease_acknowledgements (
  cert_id TEXT PRIMARY KEY REFERENCES withdrawals (cert_id),
  acknowledged_at INTEGER NOT NULL,
  details_sealed TEXT NOT NULL
) STRICT;

CREATE TABLE entity_withdrawals (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  -- 1, 2, 3 ... per certificate. If two withdrawals run concurrently, the second finds its number taken and is decided again, so the
  -- withdrawal that names the last recipient always knows that it is the last.
  number INTEGER NOT NULL CHECK (number > 0),
  withdrawn_at INTEGER NOT NULL,
  cease_by INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link', 'business_recorded')),
  channel TEXT CHECK (channel IN ('sms_stop', 'phone', 'mail', 'email', 'in_person', 'other')),
  received_at INTEGER,
  note_sealed TEXT,
  -- The signed text, byte for byte.
  receipt TEXT NOT NULL,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  PRIMARY KEY (cert_id, number),
  CHECK ((method = 'business_recorded') = (channel IS NOT NULL)),
  CHECK ((channel IS NULL) = (received_at IS NULL)),
  CHECK (channel IS NOT NULL OR note_sealed IS NULL)
) STRICT;

CREATE TABLE withdrawn_entities (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  entity TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (cert_id, entity),
  FOREIGN KEY (cert_id, number) REFERENCES "entity_withdrawals" (cert_id, number)
) STRICT;

CREATE TABLE entity_acknowledgements (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  number INTEGER NOT NULL CHECK (number > 0),
  acknowledged_at INTEGER NOT NULL,
  details_sealed TEXT NOT NULL,
  PRIMARY KEY (cert_id, number)
) STRICT;

CREATE TABLE acknowledged_entities (
  cert_id TEXT NOT NULL,
  entity TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (cert_id, entity),
  FOREIGN KEY (cert_id, entity) REFERENCES withdrawn_entities (cert_id, entity),
  FOREIGN KEY (cert_id, number) REFERENCES entity_acknowledgements (cert_id, number)
) STRICT;

CREATE TABLE entity_cease_deadlines (
  cert_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  cease_by INTEGER NOT NULL,
  PRIMARY KEY (cert_id, number),
  FOREIGN KEY (cert_id, number) REFERENCES entity_withdrawals (cert_id, number)
) STRICT;
CREATE INDEX entity_cease_deadlines_board ON entity_cease_deadlines (business_id, environment, cease_by);

CREATE TABLE withdrawal_work (
  -- The certificate can be in another shard of the business.
  cert_id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- A JSON list of blind indexes.
  address_indexes TEXT NOT NULL,
  withdrawn_at INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link', 'business_recorded')),
  api_key_id TEXT,
  next_at INTEGER NOT NULL,
  -- Whether the same work must be added to the other shards of the business.
  for_all_shards INTEGER NOT NULL DEFAULT 0 CHECK (for_all_shards IN (0, 1)),
  CHECK ((method = 'business_recorded') = (api_key_id IS NOT NULL))
) STRICT;
CREATE INDEX withdrawal_work_due ON withdrawal_work (next_at);

CREATE TABLE account_withdrawals (
  address_index TEXT NOT NULL,
  -- Empty if the withdrawal applies to all businesses.
  business_id TEXT NOT NULL,
  -- The person's account, in any shard; NULL for a withdrawal by code or link.
  consumer_id TEXT,
  withdrawn_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  -- Whether the same work must be added to the other shards that the withdrawal covers.
  for_all_shards INTEGER NOT NULL DEFAULT 0 CHECK (for_all_shards IN (0, 1)),
  PRIMARY KEY (address_index, business_id)
) STRICT;
CREATE INDEX account_withdrawals_due ON account_withdrawals (next_at);

-- Verifiers refuse events that are not in order. Entity withdrawals are in the order of their numbers.
CREATE TRIGGER withdrawals_in_order BEFORE INSERT ON withdrawals
WHEN NEW.withdrawn_at < (SELECT withdrawn_at FROM entity_withdrawals WHERE cert_id = NEW.cert_id ORDER BY number DESC LIMIT 1)
BEGIN SELECT RAISE(ABORT, 'a withdrawal cannot be dated before an earlier one'); END;

CREATE TRIGGER withdrawals_revoke AFTER INSERT ON withdrawals BEGIN
  UPDATE certificates SET status = 'revoked' WHERE id = NEW.cert_id;
END;

CREATE TRIGGER withdrawals_kept BEFORE DELETE ON withdrawals WHEN OLD.environment <> 'sandbox'
BEGIN SELECT RAISE(ABORT, 'a live withdrawal is never deleted'); END;

CREATE TRIGGER withdrawals_immutable BEFORE UPDATE OF
  cert_id, business_id, environment, withdrawn_at, cease_by, method, scope, channel, received_at, receipt, signature, signature_kid
ON withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;

CREATE TRIGGER withdrawals_note BEFORE UPDATE OF note_sealed ON withdrawals
WHEN (NEW.note_sealed IS NOT NULL
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL))
  AND NOT (NEW.note_sealed <> OLD.note_sealed
    AND substr(NEW.note_sealed, instr(NEW.note_sealed, '.') + 55) IS substr(OLD.note_sealed, instr(OLD.note_sealed, '.') + 55))
BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;

CREATE TRIGGER withdrawals_counted AFTER INSERT ON withdrawals BEGIN
  INSERT INTO daily_activity (business_id, environment, day, withdrawn)
    VALUES (NEW.business_id, NEW.environment, NEW.withdrawn_at - NEW.withdrawn_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET withdrawn = withdrawn + 1;
END;

CREATE TRIGGER cease_acknowledgements_kept BEFORE DELETE ON cease_acknowledgements
WHEN NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = OLD.cert_id AND c.environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'a live acknowledgment is never deleted'); END;

CREATE TRIGGER cease_acknowledgements_immutable BEFORE UPDATE ON cease_acknowledgements
WHEN (NEW.cert_id <> OLD.cert_id OR NEW.acknowledged_at <> OLD.acknowledged_at OR NEW.details_sealed <> ''
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL))
  AND NOT (NEW.cert_id = OLD.cert_id AND NEW.acknowledged_at = OLD.acknowledged_at AND NEW.details_sealed <> OLD.details_sealed
    AND substr(NEW.details_sealed, instr(NEW.details_sealed, '.') + 55) IS substr(OLD.details_sealed, instr(OLD.details_sealed, '.') + 55))
BEGIN SELECT RAISE(ABORT, 'an acknowledgment is immutable'); END;

CREATE TRIGGER entity_cease_deadlines_ended AFTER INSERT ON cease_acknowledgements BEGIN
  DELETE FROM entity_cease_deadlines WHERE cert_id = NEW.cert_id;
END;

CREATE TRIGGER withdrawals_acknowledged AFTER INSERT ON cease_acknowledgements BEGIN
  UPDATE withdrawals SET acknowledged = 1 WHERE cert_id = NEW.cert_id;
END;

CREATE TRIGGER cease_acknowledgements_counted AFTER INSERT ON cease_acknowledgements BEGIN
  INSERT INTO daily_activity (business_id, environment, day, on_time, late)
    SELECT business_id, environment, NEW.acknowledged_at - NEW.acknowledged_at % 86400000, NEW.acknowledged_at <= cease_by, NEW.acknowledged_at > cease_by
    FROM withdrawals WHERE cert_id = NEW.cert_id
    ON CONFLICT (business_id, environment, day) DO UPDATE SET on_time = on_time + excluded.on_time, late = late + excluded.late;
END;

CREATE TRIGGER entity_withdrawals_active BEFORE INSERT ON entity_withdrawals
WHEN (SELECT c.status FROM certificates c WHERE c.id = NEW.cert_id) <> 'active'
BEGIN SELECT RAISE(ABORT, 'a certificate can be revoked only once, by a withdrawal'); END;

CREATE TRIGGER entity_withdrawals_immutable BEFORE UPDATE OF
  cert_id, number, withdrawn_at, cease_by, method, channel, received_at, receipt, signature, signature_kid
ON entity_withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;

CREATE TRIGGER entity_withdrawals_note BEFORE UPDATE OF note_sealed ON entity_withdrawals
WHEN (NEW.note_sealed IS NOT NULL
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL))
  AND NOT (NEW.note_sealed <> OLD.note_sealed
    AND substr(NEW.note_sealed, instr(NEW.note_sealed, '.') + 55) IS substr(OLD.note_sealed, instr(OLD.note_sealed, '.') + 55))
BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;

CREATE TRIGGER entity_withdrawals_kept BEFORE DELETE ON entity_withdrawals
WHEN NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = OLD.cert_id AND c.environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'a live withdrawal is never deleted'); END;

CREATE TRIGGER entity_cease_deadlines_opened AFTER INSERT ON entity_withdrawals BEGIN
  INSERT INTO entity_cease_deadlines (cert_id, number, business_id, environment, cease_by)
  SELECT NEW.cert_id, NEW.number, c.business_id, c.environment, NEW.cease_by FROM certificates c WHERE c.id = NEW.cert_id;
END;

CREATE TRIGGER withdrawn_entities_immutable BEFORE UPDATE ON withdrawn_entities BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;

CREATE TRIGGER withdrawn_entities_kept BEFORE DELETE ON withdrawn_entities
WHEN NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = OLD.cert_id AND c.environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'a live withdrawal is never deleted'); END;

CREATE TRIGGER entity_acknowledgements_immutable BEFORE UPDATE ON entity_acknowledgements
WHEN (NEW.cert_id <> OLD.cert_id OR NEW.number <> OLD.number OR NEW.acknowledged_at <> OLD.acknowledged_at OR NEW.details_sealed <> ''
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL))
  AND NOT (NEW.cert_id = OLD.cert_id AND NEW.number = OLD.number AND NEW.acknowledged_at = OLD.acknowledged_at AND NEW.details_sealed <> OLD.details_sealed
    AND substr(NEW.details_sealed, instr(NEW.details_sealed, '.') + 55) IS substr(OLD.details_sealed, instr(OLD.details_sealed, '.') + 55))
BEGIN SELECT RAISE(ABORT, 'an acknowledgment is immutable'); END;

CREATE TRIGGER entity_acknowledgements_kept BEFORE DELETE ON entity_acknowledgements
WHEN NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = OLD.cert_id AND c.environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'a live acknowledgment is never deleted'); END;

CREATE TRIGGER acknowledged_entities_immutable BEFORE UPDATE ON acknowledged_entities
BEGIN SELECT RAISE(ABORT, 'an acknowledgment is immutable'); END;

CREATE TRIGGER acknowledged_entities_kept BEFORE DELETE ON acknowledged_entities
WHEN NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = OLD.cert_id AND c.environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'a live acknowledgment is never deleted'); END;

CREATE TRIGGER entity_cease_deadlines_done AFTER INSERT ON acknowledged_entities BEGIN
  DELETE FROM entity_cease_deadlines WHERE cert_id = NEW.cert_id AND NOT EXISTS (
    SELECT 1 FROM withdrawn_entities w WHERE w.cert_id = entity_cease_deadlines.cert_id AND w.number = entity_cease_deadlines.number
      AND NOT EXISTS (SELECT 1 FROM acknowledged_entities a WHERE a.cert_id = w.cert_id AND a.entity = w.entity));
END;

CREATE TRIGGER acknowledged_entities_counted AFTER INSERT ON acknowledged_entities BEGIN
  INSERT INTO daily_activity (business_id, environment, day, on_time, late)
    SELECT c.business_id, c.environment, a.acknowledged_at - a.acknowledged_at % 86400000, a.acknowledged_at <= d.cease_by, a.acknowledged_at > d.cease_by
    FROM entity_acknowledgements a JOIN withdrawn_entities w ON w.cert_id = NEW.cert_id AND w.entity = NEW.entity
      JOIN entity_withdrawals d ON d.cert_id = w.cert_id AND d.number = w.number
      JOIN certificates c ON c.id = NEW.cert_id
    WHERE a.cert_id = NEW.cert_id AND a.number = NEW.number
    ON CONFLICT (business_id, environment, day) DO UPDATE SET on_time = on_time + excluded.on_time, late = late + excluded.late;
END;

-- Shares

CREATE TABLE shares (
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  -- The name that the person saw when granting the share.
  business_name TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- The person, in any shard; NULL for a test person, and once the account is erased.
  consumer_id TEXT,
  consumer_chain TEXT,
  -- The stored state. An active share past expires_at has expired, whether or not it has been swept.
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked', 'ceased', 'expired', 'superseded')),
  -- One bit per field, in the order of core/shares/fields.ts.
  scope INTEGER NOT NULL CHECK (scope BETWEEN 1 AND 1023),
  origin TEXT NOT NULL,
  -- The evidence that the request came from the business.
  request_evidence TEXT NOT NULL CHECK (request_evidence IN ('request_signature', 'return_url', 'referer', 'message', 'api')),
  purpose TEXT NOT NULL,
  disclosure_hash TEXT NOT NULL,
  duration_days INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- The real time, which a sandbox clock does not change.
  stored_at INTEGER NOT NULL,
  -- Exclusive: the share has expired at this time.
  expires_at INTEGER NOT NULL,
  -- When the next expiry warning or the expiration is due.
  next_due_at INTEGER,
  revoked_at INTEGER,
  cease_by INTEGER,
  -- The person's reason for revoking.
  reason_sealed TEXT,
  supersedes TEXT,
  superseded_by TEXT,
  -- Revision of the person's fields when the share was granted.
  fields_revision INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  subject_hash TEXT NOT NULL,
  -- Root salt and values at the time of the grant, sealed for the person; NULL for a test person, and once the account is erased.
  subject_sealed TEXT,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  -- The key that seals the copy and update payloads; deleted when the share ends.
  key_sealed TEXT,
  email_index TEXT,
  phone_index TEXT,
  -- 1 if the email address is the one that the person signs in with. An active share counts in contact checks only if this is 1.
  email_proven INTEGER NOT NULL DEFAULT 0 CHECK (email_proven IN (0, 1)),
  -- Language of emails to the person.
  language TEXT NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'es', 'fr-CA')),
  -- The request that made the last state change; dependent rows join on it. It is NULL if the change was based on an older state, so the
  -- batch is rolled back.
  changed_by TEXT NOT NULL,
  update_sent_at INTEGER,
  CHECK ((state IN ('revoked', 'ceased')) = (revoked_at IS NOT NULL)),
  CHECK ((revoked_at IS NULL) = (cease_by IS NULL)),
  CHECK ((state = 'superseded') = (superseded_by IS NOT NULL)),
  CHECK ((state = 'active') = (key_sealed IS NOT NULL)),
  CHECK (state = 'active' OR next_due_at IS NULL),
  CHECK (environment = 'sandbox' OR state <> 'active' OR consumer_id IS NOT NULL)
) STRICT;
CREATE INDEX shares_listed ON shares (business_id, environment, ord);
CREATE INDEX shares_state ON shares (business_id, environment, state, ord);
CREATE INDEX shares_consumer ON shares (consumer_id, state, ord) WHERE consumer_id IS NOT NULL;
CREATE INDEX shares_due ON shares (environment, next_due_at) WHERE next_due_at IS NOT NULL;
CREATE INDEX shares_deadline ON shares (business_id, environment, cease_by) WHERE state = 'revoked';
CREATE INDEX shares_email ON shares (email_index, business_id, environment, created_at) WHERE email_index IS NOT NULL;
CREATE INDEX shares_phone ON shares (phone_index, business_id, environment, created_at) WHERE phone_index IS NOT NULL;
CREATE INDEX shares_counted ON shares (consumer_id, business_id, state) WHERE consumer_id IS NOT NULL;
CREATE INDEX shares_named ON shares (email_index, business_id) WHERE email_index IS NOT NULL AND state = 'active' AND environment = 'live';
CREATE INDEX shares_test_age ON shares (stored_at) WHERE environment = 'sandbox';
CREATE INDEX shares_test_disclosure ON shares (disclosure_hash) WHERE environment = 'sandbox';
CREATE INDEX shares_business_due ON shares (business_id, environment, next_due_at) WHERE next_due_at IS NOT NULL;
CREATE INDEX shares_person ON shares (consumer_id, ord) WHERE consumer_id IS NOT NULL;

CREATE TABLE record_usage (
  -- The ID of the person or business. The usage of known pages, whose policies were found recently, has the suffix " known".
  owner_id TEXT NOT NULL,
  -- What is counted: a person's shares, a business's submissions with API keys, the records of its sandbox, or captures with new policies.
  owner_kind TEXT NOT NULL CHECK (owner_kind IN ('person', 'business', 'sandbox', 'policies')),
  -- Whole days since 1970 (UTC).
  day INTEGER NOT NULL,
  -- Computed in the insert. It is NULL beyond the limit, so the batch is rolled back.
  records INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (owner_id, owner_kind, day)
) STRICT;
CREATE INDEX record_usage_age ON record_usage (day);

CREATE TABLE share_values (
  share_id TEXT PRIMARY KEY REFERENCES shares (id),
  values_sealed TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;

CREATE TABLE share_codes (
  share_id TEXT PRIMARY KEY REFERENCES shares (id),
  code_hash TEXT NOT NULL UNIQUE,
  -- One decision per request: a second submission violates UNIQUE.
  request_hash TEXT NOT NULL UNIQUE,
  -- Counts the codes issued for the request. A new code replaces an unused, expired one.
  generation INTEGER NOT NULL DEFAULT 1,
  client_id TEXT NOT NULL,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  origin TEXT NOT NULL,
  challenge TEXT NOT NULL,
  require_origin INTEGER NOT NULL CHECK (require_origin IN (0, 1)),
  -- The verified domain of the origin; NULL for a test client on http://localhost.
  domain_id TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- The request that redeemed the code, and the keyed hash of its idempotency key.
  used_by TEXT,
  retry_hash TEXT
) STRICT;
CREATE INDEX share_codes_age ON share_codes (created_at);

CREATE TABLE share_acknowledgements (
  share_id TEXT PRIMARY KEY REFERENCES shares (id),
  acknowledged_at INTEGER NOT NULL,
  -- Sealed, because the business's note can name people.
  details_sealed TEXT NOT NULL
) STRICT;

CREATE TABLE share_intents (
  share_id TEXT PRIMARY KEY,
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX share_intents_due ON share_intents (next_at);

CREATE TABLE share_notices (
  share_id TEXT NOT NULL REFERENCES shares (id),
  kind TEXT NOT NULL CHECK (kind IN ('expiring', 'overdue')),
  next_at INTEGER NOT NULL,
  PRIMARY KEY (share_id, kind)
) STRICT;
CREATE INDEX share_notices_due ON share_notices (next_at);

CREATE TABLE field_fanouts (
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  shard TEXT NOT NULL,
  -- JSON list of the changed keys.
  changed TEXT NOT NULL,
  revision INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  PRIMARY KEY (consumer_id, shard)
) STRICT;
CREATE INDEX field_fanouts_due ON field_fanouts (next_at);

CREATE TRIGGER shares_kept BEFORE DELETE ON shares WHEN OLD.environment <> 'sandbox'
BEGIN SELECT RAISE(ABORT, 'a live share is never deleted'); END;

CREATE TRIGGER shares_granted BEFORE UPDATE OF
  id, business_id, business_name, client_id, environment, scope, origin, request_evidence, purpose, disclosure_hash, duration_days, created_at,
  stored_at, expires_at, supersedes, fields_revision, fingerprint, subject_hash, signature, signature_kid
ON shares BEGIN SELECT RAISE(ABORT, 'the terms of a share are immutable'); END;

CREATE TRIGGER shares_states BEFORE UPDATE OF state ON shares
WHEN NOT (OLD.state = NEW.state
  OR (OLD.state = 'active' AND NEW.state IN ('revoked', 'expired', 'superseded'))
  OR (OLD.state = 'revoked' AND NEW.state = 'ceased'))
BEGIN SELECT RAISE(ABORT, 'a share cannot return to an earlier state'); END;

CREATE TRIGGER shares_person BEFORE UPDATE OF consumer_id, consumer_chain, subject_sealed ON shares
WHEN (NEW.consumer_id IS NOT NULL OR NEW.subject_sealed IS NOT NULL)
  AND NOT (NEW.consumer_id IS OLD.consumer_id AND NEW.consumer_chain IS OLD.consumer_chain
    AND NEW.subject_sealed <> OLD.subject_sealed
    AND substr(NEW.subject_sealed, instr(NEW.subject_sealed, '.') + 55) IS substr(OLD.subject_sealed, instr(OLD.subject_sealed, '.') + 55))
BEGIN SELECT RAISE(ABORT, 'the person of a share can only be erased'); END;

CREATE TRIGGER shares_end AFTER UPDATE OF state ON shares WHEN NEW.state <> 'active'
BEGIN DELETE FROM share_values WHERE share_id = NEW.id; END;

CREATE TRIGGER shares_dated AFTER INSERT ON shares BEGIN
  INSERT INTO daily_activity (business_id, environment, day, granted)
    VALUES (NEW.business_id, NEW.environment, NEW.created_at - NEW.created_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET granted = granted + 1;
END;

CREATE TRIGGER shares_stop_dated AFTER UPDATE OF revoked_at ON shares WHEN OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL BEGIN
  INSERT INTO daily_activity (business_id, environment, day, revoked)
    VALUES (NEW.business_id, NEW.environment, NEW.revoked_at - NEW.revoked_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET revoked = revoked + 1;
END;

CREATE TRIGGER share_acknowledgements_kept BEFORE DELETE ON share_acknowledgements
WHEN NOT EXISTS (SELECT 1 FROM shares s WHERE s.id = OLD.share_id AND s.environment = 'sandbox')
BEGIN SELECT RAISE(ABORT, 'a live acknowledgment is never deleted'); END;

CREATE TRIGGER share_acknowledgements_counted AFTER INSERT ON share_acknowledgements BEGIN
  INSERT INTO daily_activity (business_id, environment, day, on_time, late)
    SELECT business_id, environment, NEW.acknowledged_at - NEW.acknowledged_at % 86400000, NEW.acknowledged_at <= cease_by, NEW.acknowledged_at > cease_by
    FROM shares WHERE id = NEW.share_id AND cease_by IS NOT NULL
    ON CONFLICT (business_id, environment, day) DO UPDATE SET on_time = on_time + excluded.on_time, late = late + excluded.late;
END;

-- Account erasures and data removals

CREATE TABLE account_erasures (
  consumer_id TEXT PRIMARY KEY REFERENCES consumers (id),
  -- Language of the last email to the person.
  language TEXT NOT NULL CHECK (language IN ('en', 'es', 'fr-CA')),
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX account_erasures_due ON account_erasures (next_at);

CREATE TABLE removals (
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  status TEXT NOT NULL DEFAULT 'requested' CHECK (status IN ('requested', 'in_progress', 'completed', 'rejected')),
  notes_sealed TEXT,
  language TEXT NOT NULL CHECK (language IN ('en', 'es', 'fr-CA')),
  requested_at INTEGER NOT NULL,
  completed_at INTEGER,
  recheck_at INTEGER,
  -- The PDF. Its hash is signed and recorded in the person's audit chain.
  affidavit_sealed TEXT,
  affidavit_sha256 TEXT,
  signature TEXT,
  signature_kid TEXT,
  -- The operator's last change. It is NULL if the change was based on an older state, so the batch is rolled back.
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

-- Billing

CREATE TABLE billing_customers (
  customer_id TEXT PRIMARY KEY,
  account_id TEXT UNIQUE,
  linked_at INTEGER,
  subscription_id TEXT,
  plan TEXT CHECK (plan IN ('free', 'business', 'enterprise', 'white_glove')),
  plan_at INTEGER NOT NULL DEFAULT 0,
  paid_at INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER NOT NULL DEFAULT 0,
  past_due_since INTEGER,
  suspended_at INTEGER,
  ended_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  CHECK ((account_id IS NULL) = (linked_at IS NULL))
) STRICT;
CREATE INDEX billing_customers_unpaid ON billing_customers (past_due_since) WHERE past_due_since IS NOT NULL AND suspended_at IS NULL;
CREATE INDEX billing_customers_unlinked ON billing_customers (updated_at) WHERE account_id IS NULL;

CREATE TABLE billing_events (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX billing_events_age ON billing_events (received_at);

-- Shards. Only the rows in shard 00 are used.

CREATE TABLE shard_registry (
  shard TEXT PRIMARY KEY,
  state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'closed')),
  bytes INTEGER NOT NULL DEFAULT 0,
  measured_at INTEGER
) STRICT, WITHOUT ROWID;

-- Idempotent responses

CREATE TABLE idempotent_responses (
  key_hash TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  response_sealed TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  cert_id TEXT,
  -- A response can contain a consumer's personal data, so erasing the account must find and delete it.
  consumer_id TEXT
) STRICT;
CREATE INDEX idempotent_responses_expiry ON idempotent_responses (expires_at);
CREATE INDEX idempotent_responses_certificate ON idempotent_responses (cert_id) WHERE cert_id IS NOT NULL;
CREATE INDEX idempotent_responses_consumer ON idempotent_responses (consumer_id) WHERE consumer_id IS NOT NULL;

CREATE TABLE idempotency_claims (
  key_hash TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  -- The request that does the work. Only this request can end the claim.
  holder TEXT NOT NULL,
  -- After this time the holder counts as dead, and an identical request can take over.
  leased_until INTEGER NOT NULL,
  -- Random values used by the work, which are reused if an identical request takes over.
  draft_sealed TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_claims_expiry ON idempotency_claims (expires_at);

-- Audit log and ledger

CREATE TABLE changes (
  -- AUTOINCREMENT is not needed: the row that a reader has reached is never deleted, so no number is used twice.
  ord INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- The event sequence that gets the change as a public event.
  sequence TEXT,
  -- The time that the event shows, if it is not `at`.
  event_at INTEGER,
  event_data_sealed TEXT,
  -- The ledger statement of a live issuance. It can be rebuilt from the certificate.
  ledger_id TEXT,
  statement TEXT,
  -- The audit entry of a live issuance or of a read. The database keeps no other row for it.
  chain TEXT,
  audit_log TEXT,
  payload_hash TEXT,
  -- Salt and payload of a read. The audit log stores them. Those of an issuance are rebuilt from the certificate.
  payload TEXT
) STRICT;
CREATE INDEX changes_sequence ON changes (sequence, ord) WHERE sequence IS NOT NULL;

CREATE TABLE change_readers (
  reader TEXT PRIMARY KEY,
  ord INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE change_exceptions (
  reader TEXT NOT NULL,
  -- What failed: an event sequence, or the number of a change.
  subject TEXT NOT NULL,
  -- The first change that waits for the subject.
  ord INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 1,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (reader, subject)
) STRICT, WITHOUT ROWID;

-- Sorted by change, so that inserts append. One change has one row for each of its chains.
CREATE TABLE audit_entries (
  ord INTEGER NOT NULL,
  chain TEXT NOT NULL,
  id TEXT NOT NULL,
  audit_log TEXT NOT NULL,
  type TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  payload_hash TEXT NOT NULL,
  payload_sealed TEXT,
  PRIMARY KEY (ord, chain)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_entries_entity ON audit_entries (entity_id, type, chain);
CREATE INDEX audit_entries_chain ON audit_entries (chain) WHERE entity_type <> 'certificate';

CREATE TABLE audit_batches (
  audit_log TEXT NOT NULL,
  ord INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (audit_log, ord)
) STRICT, WITHOUT ROWID;

-- Receipts of statements that were submitted together.
CREATE TABLE receipts (
  -- The largest change number in the batch.
  ord INTEGER PRIMARY KEY,
  -- The smallest change number without a row in anchors. All such changes from here to ord are in the batch. NULL if there are none.
  first_ord INTEGER,
  ledger_id TEXT NOT NULL,
  note TEXT NOT NULL,
  leaves TEXT NOT NULL,
  nodes TEXT NOT NULL,
  leaf_bodies TEXT,
  submitted_at INTEGER NOT NULL,
  verified_at INTEGER NOT NULL,
  anchored_at INTEGER NOT NULL
) STRICT;

-- Statements, except for those of live issuances, which have a row only if the ledger did not accept them at the first attempt.
CREATE TABLE anchors (
  -- The number of the change.
  ord INTEGER PRIMARY KEY,
  ledger_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  event TEXT NOT NULL,
  statement TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'prepared', 'anchored', 'parked')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  prepared TEXT,
  receipt_ord INTEGER REFERENCES receipts (ord),
  last_error TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX anchors_entity ON anchors (entity_id, event);
-- Only statements that failed. The others are found by their number.
CREATE INDEX anchors_failed ON anchors (ledger_id, next_at, ord) WHERE attempts > 0 AND status <> 'anchored';

CREATE TABLE ledger_state (
  ledger_id TEXT PRIMARY KEY,
  size TEXT NOT NULL DEFAULT '0',
  root TEXT,
  note TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  blocked_until INTEGER NOT NULL DEFAULT 0,
  -- Two signed trees that contradict each other, as JSON. While it is set, the ledger is not used.
  fork TEXT,
  -- The last change whose statement the ledger has; NULL if it has read none, or if its statements were moved to a later ledger.
  ord INTEGER,
  -- The random ID of the last run that stored results. A run stores nothing if another run has done so since it started.
  last_run TEXT,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoints (
  origin TEXT NOT NULL,
  window INTEGER NOT NULL,
  size TEXT NOT NULL,
  root TEXT NOT NULL,
  note TEXT NOT NULL,
  -- For audit logs: the newest heads record that the checkpoint covers.
  heads_root TEXT,
  heads_size TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (origin, window)
) STRICT;

CREATE TABLE audit_log_high_water (
  audit_log TEXT PRIMARY KEY,
  size TEXT NOT NULL,
  root TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE attestations (
  origin TEXT NOT NULL,
  window INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('rfc3161', 'cosignature')),
  attestor TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'attested', 'unverified', 'given_up')),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  data TEXT,
  time TEXT,
  PRIMARY KEY (origin, window, kind, attestor),
  FOREIGN KEY (origin, window) REFERENCES checkpoints (origin, window)
) STRICT;
CREATE INDEX attestations_due ON attestations (next_at) WHERE status = 'pending';

-- Outboxes of events, email and other work

CREATE TABLE mail_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  template TEXT NOT NULL,
  message_sealed TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  give_up_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  cert_id TEXT,
  consumer_id TEXT,
  -- The invitation or email code that the email delivers.
  entity_id TEXT
) STRICT;
CREATE INDEX mail_outbox_certificate ON mail_outbox (cert_id) WHERE cert_id IS NOT NULL;
CREATE INDEX mail_outbox_consumer ON mail_outbox (consumer_id) WHERE consumer_id IS NOT NULL;
CREATE INDEX mail_outbox_urgent ON mail_outbox (give_up_at, ord, next_at);

-- Emails that will not be sent, with the reason.
CREATE TABLE failed_mail (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  template TEXT NOT NULL,
  message_sealed TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('refused', 'unsupported_address', 'expired')),
  failed_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  cert_id TEXT,
  consumer_id TEXT,
  entity_id TEXT
) STRICT;
CREATE INDEX failed_mail_expiry ON failed_mail (expires_at);
CREATE INDEX failed_mail_certificate ON failed_mail (cert_id) WHERE cert_id IS NOT NULL;
CREATE INDEX failed_mail_consumer ON failed_mail (consumer_id) WHERE consumer_id IS NOT NULL;
CREATE INDEX failed_mail_entity ON failed_mail (entity_id) WHERE entity_id IS NOT NULL;

CREATE TABLE owner_notices (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  kind TEXT NOT NULL,
  notices INTEGER NOT NULL,
  records INTEGER NOT NULL,
  earliest_cease_by INTEGER,
  first_sealed TEXT,
  last_sealed TEXT,
  due_at INTEGER,
  sent_at INTEGER,
  PRIMARY KEY (business_id, kind)
) STRICT;
CREATE INDEX owner_notices_due ON owner_notices (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE captured_mail (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  recipient_index TEXT NOT NULL,
  message_sealed TEXT NOT NULL,
  sent_at INTEGER NOT NULL
) STRICT;
CREATE INDEX captured_mail_recipient ON captured_mail (recipient_index, ord);

-- Open alerts that were sent to the operator. They are stored only in the first shard.
CREATE TABLE operator_alerts (
  kind TEXT PRIMARY KEY,
  since INTEGER NOT NULL,
  notified_at INTEGER NOT NULL
) STRICT;

-- Incidents that the operator records for the public status page. They are stored only in the first shard.
CREATE TABLE incidents (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  impact TEXT NOT NULL CHECK (impact IN ('maintenance', 'degraded', 'outage')),
  components TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  updates TEXT NOT NULL
) STRICT;

CREATE TABLE outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  topic TEXT NOT NULL,
  payload TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  business_id TEXT NOT NULL DEFAULT '',
  UNIQUE (kind, entity_id)
) STRICT;
CREATE INDEX outbox_due ON outbox (kind, next_at, ord);
