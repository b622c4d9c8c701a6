-- The person takes consent back from single recipients; the certificate stands for the others.

-- One row an act of the person.
CREATE TABLE entity_withdrawals (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  -- 1, 2, 3 ... on its certificate. Of two acts at once the second finds its number taken, and is decided anew: so the one that
  -- names the last recipient always knows that it does.
  number INTEGER NOT NULL CHECK (number > 0),
  withdrawn_at INTEGER NOT NULL,
  cease_by INTEGER NOT NULL,
  method TEXT NOT NULL CHECK (method IN ('email_code', 'manage_link')),
  -- The text that was signed, exactly.
  receipt TEXT NOT NULL,
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  PRIMARY KEY (cert_id, number)
) STRICT;

-- One row a certificate and recipient: the primary key is what makes each withdrawal happen once.
CREATE TABLE withdrawn_entities (
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  entity TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (cert_id, entity),
  FOREIGN KEY (cert_id, number) REFERENCES entity_withdrawals (cert_id, number)
) STRICT;

-- A revoked certificate has nobody left to withdraw from.
CREATE TRIGGER entity_withdrawals_active BEFORE INSERT ON entity_withdrawals
WHEN (SELECT c.status FROM certificates c WHERE c.id = NEW.cert_id) <> 'active'
BEGIN SELECT RAISE(ABORT, 'a certificate is revoked once, by a withdrawal'); END;
CREATE TRIGGER entity_withdrawals_sealed BEFORE UPDATE ON entity_withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER entity_withdrawals_kept BEFORE DELETE ON entity_withdrawals BEGIN SELECT RAISE(ABORT, 'a withdrawal is never deleted'); END;
CREATE TRIGGER withdrawn_entities_sealed BEFORE UPDATE ON withdrawn_entities BEGIN SELECT RAISE(ABORT, 'a withdrawal is immutable'); END;
CREATE TRIGGER withdrawn_entities_kept BEFORE DELETE ON withdrawn_entities BEGIN SELECT RAISE(ABORT, 'a withdrawal is never deleted'); END;
