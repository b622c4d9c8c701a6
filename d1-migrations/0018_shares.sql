-- A person's contact fields, shares of them with businesses, and the codes that redeem them.
ALTER TABLE clients ADD COLUMN require_origin INTEGER NOT NULL DEFAULT 0 CHECK (require_origin IN (0, 1));
-- JSON list of addresses to which an answer may go back by redirect without other evidence.
ALTER TABLE clients ADD COLUMN return_urls TEXT NOT NULL DEFAULT '[]';

-- JSON of key to [value, time of change], sealed as one. The revision counts the changes: whoever copies the fields names the one it saw.
ALTER TABLE consumers ADD COLUMN fields_sealed TEXT;
ALTER TABLE consumers ADD COLUMN fields_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE consumers ADD COLUMN erased_at INTEGER;

-- Homes in which the person may have shares: written before the first one there, never removed, so it is never short of one.
CREATE TABLE consumer_homes (
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  home TEXT NOT NULL,
  PRIMARY KEY (consumer_id, home)
) STRICT;

-- In the home of the business.
CREATE TABLE shares (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  -- As shown when it was granted.
  business_name TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- The person, in whatever home; NULL for a test person, and once the account is erased.
  consumer_id TEXT,
  consumer_chain TEXT,
  consumer_shard INTEGER,
  -- What somebody did or the sweep noted. An active share whose time is over has expired, noted or not.
  state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'revoked', 'ceased', 'expired', 'superseded')),
  -- One bit a field, in the order of core/shares/fields.ts.
  scope INTEGER NOT NULL CHECK (scope BETWEEN 1 AND 1023),
  origin TEXT NOT NULL,
  purpose TEXT NOT NULL,
  disclosure_hash TEXT NOT NULL REFERENCES disclosures (hash),
  duration_days INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  -- Exclusive: at this instant it has expired.
  expires_at INTEGER NOT NULL,
  -- The next warning or the end.
  next_due_at INTEGER,
  revoked_at INTEGER,
  cease_by INTEGER,
  -- Why the person stopped, in their words, sealed.
  reason_sealed TEXT,
  supersedes TEXT,
  superseded_by TEXT,
  -- Of the person's fields, at the moment of the grant.
  fields_revision INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  subject_hash TEXT NOT NULL,
  -- Root salt and values of that moment, sealed for the person; NULL for a test person, and once the account is erased.
  subject_sealed TEXT,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  -- The key of the copy and of the payloads of updates; it ends with the share.
  key_sealed TEXT,
  email_index TEXT,
  phone_index TEXT,
  -- Of the mails to the person.
  language TEXT NOT NULL DEFAULT 'en' CHECK (language IN ('en', 'es', 'fr-CA')),
  -- The request that made the last change of state; joins the rows that follow from it.
  changed_by TEXT NOT NULL,
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
CREATE INDEX shares_email ON shares (email_index, business_id) WHERE email_index IS NOT NULL;
CREATE INDEX shares_phone ON shares (phone_index, business_id) WHERE phone_index IS NOT NULL;

CREATE TRIGGER shares_kept BEFORE DELETE ON shares BEGIN SELECT RAISE(ABORT, 'a share is kept'); END;
CREATE TRIGGER shares_granted BEFORE UPDATE OF
  id, business_id, business_name, client_id, environment, scope, origin, purpose, disclosure_hash, duration_days, created_at, expires_at,
  supersedes, fields_revision, fingerprint, subject_hash, signature, signature_kid
ON shares BEGIN SELECT RAISE(ABORT, 'what was granted is immutable'); END;
CREATE TRIGGER shares_states BEFORE UPDATE OF state ON shares
WHEN NOT (OLD.state = NEW.state
  OR (OLD.state = 'active' AND NEW.state IN ('revoked', 'expired', 'superseded'))
  OR (OLD.state = 'revoked' AND NEW.state = 'ceased'))
BEGIN SELECT RAISE(ABORT, 'a share does not go back'); END;
CREATE TRIGGER shares_person BEFORE UPDATE OF consumer_id, consumer_chain, consumer_shard, subject_sealed ON shares
WHEN NEW.consumer_id IS NOT NULL OR NEW.subject_sealed IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the person of a share is only ever erased'); END;

-- The values of the scope as the person last set them, under the key of the share.
CREATE TABLE share_values (
  share_id TEXT PRIMARY KEY REFERENCES shares (id),
  values_sealed TEXT NOT NULL,
  revision INTEGER NOT NULL
) STRICT;
CREATE TRIGGER shares_end AFTER UPDATE OF state ON shares WHEN NEW.state <> 'active'
BEGIN DELETE FROM share_values WHERE share_id = NEW.id; END;

CREATE TABLE auth_codes (
  share_id TEXT PRIMARY KEY REFERENCES shares (id),
  code_hash TEXT NOT NULL UNIQUE,
  -- One decision for a request: a second press meets this row.
  request_hash TEXT NOT NULL UNIQUE,
  -- How often the code was given anew to the same request, because it had expired unused.
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
  -- The request that redeemed it, and the keyed hash of its idempotency key.
  used_by TEXT,
  retry_hash TEXT
) STRICT;
CREATE INDEX auth_codes_age ON auth_codes (created_at);

CREATE TABLE share_acknowledgements (
  share_id TEXT PRIMARY KEY REFERENCES shares (id),
  acknowledged_at INTEGER NOT NULL,
  -- What the business says with it can name people.
  details_sealed TEXT NOT NULL
) STRICT;
CREATE TRIGGER share_acknowledgements_kept BEFORE DELETE ON share_acknowledgements BEGIN SELECT RAISE(ABORT, 'an acknowledgement is kept'); END;

-- In the home of the person: a grant in another home that is not settled yet, and changes of fields on their way to one.
CREATE TABLE share_intents (
  share_id TEXT PRIMARY KEY,
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX share_intents_due ON share_intents (next_at);
CREATE TABLE field_fanouts (
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  home TEXT NOT NULL,
  -- JSON list of the keys that changed.
  changed TEXT NOT NULL,
  revision INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  PRIMARY KEY (consumer_id, home)
) STRICT;
CREATE INDEX field_fanouts_due ON field_fanouts (next_at);

-- Mails that the clock causes: written by the sweep in SQL, sent by a job that can open the address.
CREATE TABLE share_notices (
  share_id TEXT NOT NULL REFERENCES shares (id),
  kind TEXT NOT NULL CHECK (kind IN ('expiring', 'overdue')),
  next_at INTEGER NOT NULL,
  PRIMARY KEY (share_id, kind)
) STRICT;
CREATE INDEX share_notices_due ON share_notices (next_at);
