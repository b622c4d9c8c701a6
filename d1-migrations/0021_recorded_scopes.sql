-- A business records withdrawals from everything a person gave it and from single recipients, and says of these too that contact has ceased.

-- How far a withdrawal that the business records reaches where it does not say.
ALTER TABLE businesses ADD COLUMN revocation_scope_default TEXT NOT NULL DEFAULT 'business'
  CHECK (revocation_scope_default IN ('certificate', 'business'));

-- Of one that is recorded: with which key, and by telephone number where the certificate holds no e-mail address.
CREATE TABLE withdrawal_work_wider (
  cert_id TEXT PRIMARY KEY REFERENCES withdrawals (cert_id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  address_kind TEXT NOT NULL DEFAULT 'email' CHECK (address_kind IN ('email', 'phone')),
  address_index TEXT NOT NULL,
  withdrawn_at INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link', 'business_recorded')),
  api_key_id TEXT REFERENCES api_keys (id),
  next_at INTEGER NOT NULL,
  CHECK ((method = 'business_recorded') = (api_key_id IS NOT NULL))
) STRICT;
INSERT INTO withdrawal_work_wider (cert_id, business_id, environment, address_index, withdrawn_at, method, next_at)
  SELECT cert_id, business_id, environment, address_index, withdrawn_at, method, next_at FROM withdrawal_work;
DROP TABLE withdrawal_work;
ALTER TABLE withdrawal_work_wider RENAME TO withdrawal_work;
CREATE INDEX withdrawal_work_due ON withdrawal_work (next_at);

-- Withdrawals from single recipients, as before, and those that the business records.
CREATE TABLE entity_withdrawals_wider (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  -- 1, 2, 3 ... on its certificate. Of two acts at once the second finds its number taken, and is decided anew: so the one that
  -- names the last recipient always knows that it does.
  number INTEGER NOT NULL CHECK (number > 0),
  withdrawn_at INTEGER NOT NULL,
  cease_by INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link', 'business_recorded')),
  channel TEXT CHECK (channel IN ('sms_stop', 'phone', 'mail', 'email', 'in_person', 'other')),
  received_at INTEGER,
  note_sealed TEXT,
  -- The text that was signed, exactly.
  receipt TEXT NOT NULL,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  PRIMARY KEY (cert_id, number),
  CHECK ((method = 'business_recorded') = (channel IS NOT NULL)),
  CHECK ((channel IS NULL) = (received_at IS NULL)),
  CHECK (channel IS NOT NULL OR note_sealed IS NULL)
) STRICT;
INSERT INTO entity_withdrawals_wider (cert_id, number, withdrawn_at, cease_by, method, receipt, signature, signature_kid)
  SELECT cert_id, number, withdrawn_at, cease_by, method, receipt, signature, signature_kid FROM entity_withdrawals;
CREATE TABLE withdrawn_entities_wider (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  entity TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (cert_id, entity),
  FOREIGN KEY (cert_id, number) REFERENCES entity_withdrawals_wider (cert_id, number)
) STRICT;
INSERT INTO withdrawn_entities_wider (cert_id, entity, number) SELECT cert_id, entity, number FROM withdrawn_entities;
DROP TABLE withdrawn_entities;
DROP TABLE entity_withdrawals;
ALTER TABLE entity_withdrawals_wider RENAME TO entity_withdrawals;
ALTER TABLE withdrawn_entities_wider RENAME TO withdrawn_entities;

CREATE TRIGGER entity_withdrawals_active BEFORE INSERT ON entity_withdrawals
WHEN (SELECT c.status FROM certificates c WHERE c.id = NEW.cert_id) <> 'active'
BEGIN SELECT RAISE(ABORT, 'a certificate is revoked once, by a withdrawal'); END;
CREATE TRIGGER entity_withdrawals_sealed BEFORE UPDATE OF
  cert_id, number, withdrawn_at, cease_by, method, channel, received_at, receipt, signature, signature_kid
ON entity_withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER entity_withdrawals_note BEFORE UPDATE OF note_sealed ON entity_withdrawals
WHEN NEW.note_sealed IS NOT NULL
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER entity_withdrawals_kept BEFORE DELETE ON entity_withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is never deleted'); END;
CREATE TRIGGER withdrawn_entities_sealed BEFORE UPDATE ON withdrawn_entities BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER withdrawn_entities_kept BEFORE DELETE ON withdrawn_entities BEGIN SELECT RAISE(ABORT, 'a withdrawal is never deleted'); END;

-- The business says of single recipients that they have ceased contact: once each. The number makes two at once be decided one after the other.
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
CREATE TRIGGER entity_acknowledgements_sealed BEFORE UPDATE ON entity_acknowledgements
WHEN NEW.cert_id <> OLD.cert_id OR NEW.number <> OLD.number OR NEW.acknowledged_at <> OLD.acknowledged_at OR NEW.details_sealed <> ''
  OR NOT EXISTS (SELECT 1 FROM certificates c WHERE c.id = NEW.cert_id AND c.subject_erased_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'an acknowledgement is immutable'); END;
CREATE TRIGGER entity_acknowledgements_kept BEFORE DELETE ON entity_acknowledgements
BEGIN SELECT RAISE(ABORT, 'an acknowledgement is never deleted'); END;
CREATE TRIGGER acknowledged_entities_sealed BEFORE UPDATE ON acknowledged_entities
BEGIN SELECT RAISE(ABORT, 'an acknowledgement is immutable'); END;
CREATE TRIGGER acknowledged_entities_kept BEFORE DELETE ON acknowledged_entities
BEGIN SELECT RAISE(ABORT, 'an acknowledgement is never deleted'); END;
