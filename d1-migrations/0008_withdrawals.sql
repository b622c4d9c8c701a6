-- The person takes consent back: the codes that prove an address, the withdrawals, and what the business says about ceasing.

-- Codes that were asked for, for addresses that are on the certificate and for others alike: nobody who asks, and nobody who
-- reads this table without the keys, can tell which. Kept a day, because the limits count them.
CREATE TABLE withdrawal_codes (
  id TEXT PRIMARY KEY,
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  address_index TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  -- The browser that asked, by the hash of its cookie.
  context_hash TEXT NOT NULL,
  own_tries INTEGER NOT NULL DEFAULT 0,
  other_tries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  -- Computed inside the insert; equal to created_at where a limit was reached.
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX withdrawal_codes_asked ON withdrawal_codes (cert_id, address_index, created_at);
CREATE INDEX withdrawal_codes_address ON withdrawal_codes (address_index, created_at);
CREATE INDEX withdrawal_codes_age ON withdrawal_codes (created_at);

-- Wrong answers in a row, for one certificate and address.
CREATE TABLE withdrawal_failures (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  address_index TEXT NOT NULL,
  failures INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (cert_id, address_index)
) STRICT;
CREATE INDEX withdrawal_failures_age ON withdrawal_failures (updated_at);

-- One row a withdrawn certificate: the primary key is what makes a withdrawal happen once.
CREATE TABLE withdrawals (
  cert_id TEXT PRIMARY KEY REFERENCES certificates (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  withdrawn_at INTEGER NOT NULL,
  cease_by INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link', 'business_recorded')),
  scope TEXT NOT NULL CHECK (scope IN ('certificate', 'business')),
  -- Of a revocation that reached the business by other means.
  channel TEXT CHECK (channel IN ('sms_stop', 'phone', 'mail', 'email', 'in_person', 'other')),
  received_at INTEGER,
  note_sealed TEXT,
  -- The text that was signed, exactly.
  receipt TEXT NOT NULL,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  CHECK ((method = 'business_recorded') = (channel IS NOT NULL)),
  CHECK ((channel IS NULL) = (received_at IS NULL)),
  CHECK (channel IS NOT NULL OR note_sealed IS NULL)
) STRICT;
CREATE INDEX withdrawals_deadline ON withdrawals (business_id, environment, cease_by);

-- The certificate and the counters of its purpose follow by themselves, so that no writer can forget them.
CREATE TRIGGER withdrawals_revoke AFTER INSERT ON withdrawals BEGIN
  UPDATE certificates SET status = 'revoked' WHERE id = NEW.cert_id;
  UPDATE purposes SET active = active - 1, revoked = revoked + 1 WHERE id = (SELECT c.purpose_id FROM certificates c WHERE c.id = NEW.cert_id);
END;
CREATE TRIGGER withdrawals_sealed BEFORE UPDATE ON withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER withdrawals_kept BEFORE DELETE ON withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is never deleted'); END;
-- Revoked by a withdrawal and by nothing else, and never active again.
CREATE TRIGGER certificates_withdrawn BEFORE UPDATE OF status ON certificates
WHEN OLD.status = 'revoked' OR NOT EXISTS (SELECT 1 FROM withdrawals w WHERE w.cert_id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a certificate is revoked once, by a withdrawal'); END;

-- The business has ceased contact: once a certificate.
CREATE TABLE cease_acknowledgements (
  cert_id TEXT PRIMARY KEY REFERENCES withdrawals (cert_id),
  acknowledged_at INTEGER NOT NULL,
  details_sealed TEXT NOT NULL
) STRICT;
CREATE TRIGGER cease_acknowledgements_kept BEFORE DELETE ON cease_acknowledgements
BEGIN SELECT RAISE(ABORT, 'an acknowledgement is never deleted'); END;

-- A withdrawal from all of a business's certificates with one address, as far as it is not done yet.
CREATE TABLE withdrawal_work (
  cert_id TEXT PRIMARY KEY REFERENCES withdrawals (cert_id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  address_index TEXT NOT NULL,
  withdrawn_at INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link')),
  next_at INTEGER NOT NULL
) STRICT;
CREATE INDEX withdrawal_work_due ON withdrawal_work (next_at);

-- Wrong guesses at a certificate's address or number by those who may match it, by day.
CREATE TABLE match_misses (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  day INTEGER NOT NULL,
  misses INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (cert_id, day)
) STRICT;
CREATE INDEX match_misses_age ON match_misses (day);
