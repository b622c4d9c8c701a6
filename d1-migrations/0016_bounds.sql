-- Lists of recipients are long and repeat, so each is stored once. What certificates can be searched by (purpose, recipients, origin)
-- is few combinations: each is a group with counters, for all time and by hour and day, so that no search walks the certificates.
CREATE TABLE entity_lists (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  entities TEXT NOT NULL
) STRICT;

CREATE TABLE certificate_groups (
  id INTEGER PRIMARY KEY,
  purpose_id INTEGER NOT NULL REFERENCES purposes (id),
  entity_list_id INTEGER NOT NULL REFERENCES entity_lists (id),
  origin_domain TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 0 CHECK (active >= 0),
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked >= 0),
  UNIQUE (purpose_id, entity_list_id, origin_domain)
) STRICT;

-- `span` is the length in milliseconds: an hour or a day. It begins at `start`, a multiple of it.
CREATE TABLE certificate_tallies (
  group_id INTEGER NOT NULL REFERENCES certificate_groups (id),
  span INTEGER NOT NULL,
  start INTEGER NOT NULL,
  active INTEGER NOT NULL DEFAULT 0 CHECK (active >= 0),
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked >= 0),
  PRIMARY KEY (group_id, span, start)
) STRICT;

-- Certificates of before: a list's text is no hash, so theirs are called by the first certificate that has it.
INSERT INTO entity_lists (hash, entities) SELECT 'first:' || MIN(ord), entities FROM certificates GROUP BY entities;
CREATE INDEX entity_lists_text ON entity_lists (entities);
INSERT INTO certificate_groups (purpose_id, entity_list_id, origin_domain, active, revoked)
  SELECT c.purpose_id, l.id, c.origin_domain, SUM(c.status = 'active'), SUM(c.status = 'revoked')
  FROM certificates c JOIN entity_lists l ON l.entities = c.entities GROUP BY 1, 2, 3;
ALTER TABLE certificates ADD COLUMN group_id INTEGER REFERENCES certificate_groups (id);
UPDATE certificates SET group_id = (
  SELECT g.id FROM entity_lists l JOIN certificate_groups g ON g.entity_list_id = l.id
  WHERE l.entities = certificates.entities AND g.purpose_id = certificates.purpose_id AND g.origin_domain = certificates.origin_domain
);
DROP INDEX entity_lists_text;
INSERT INTO certificate_tallies (group_id, span, start, active, revoked)
  SELECT c.group_id, s.value, c.issued_at - c.issued_at % s.value, SUM(c.status = 'active'), SUM(c.status = 'revoked')
  FROM certificates c JOIN json_each('[3600000, 86400000]') s GROUP BY 1, 2, 3;

DROP TRIGGER certificates_sealed;
ALTER TABLE certificates DROP COLUMN entities;
CREATE TRIGGER certificates_sealed BEFORE UPDATE OF
  id, business_id, business_name, client_id, environment, purpose_id, disclosure_hash, group_id, entities_accepted,
  entities_rejected, origin_domain, issued_at, fingerprint, subject_hash, evidence_hash, signature, signature_kid
ON certificates BEGIN SELECT RAISE(ABORT, 'a certificate is immutable'); END;
CREATE TRIGGER entity_lists_sealed BEFORE UPDATE ON entity_lists BEGIN SELECT RAISE(ABORT, 'a list of recipients is immutable'); END;
CREATE TRIGGER certificate_groups_sealed BEFORE UPDATE OF id, purpose_id, entity_list_id, origin_domain ON certificate_groups
BEGIN SELECT RAISE(ABORT, 'what a group is of is immutable'); END;
DROP INDEX certificates_purpose;
CREATE INDEX certificates_group ON certificates (group_id, status, issued_at);

-- The counters follow by themselves, so that no writer can forget them. A certificate without a group fails here.
CREATE TRIGGER certificates_counted AFTER INSERT ON certificates BEGIN
  UPDATE certificate_groups SET active = active + (NEW.status = 'active'), revoked = revoked + (NEW.status = 'revoked') WHERE id = NEW.group_id;
  INSERT INTO certificate_tallies (group_id, span, start, active, revoked)
    SELECT NEW.group_id, s.value, NEW.issued_at - NEW.issued_at % s.value, NEW.status = 'active', NEW.status = 'revoked'
    FROM json_each('[3600000, 86400000]') s WHERE true
    ON CONFLICT (group_id, span, start) DO UPDATE SET active = active + excluded.active, revoked = revoked + excluded.revoked;
END;
CREATE TRIGGER certificates_recounted AFTER UPDATE OF status ON certificates WHEN OLD.status = 'active' AND NEW.status = 'revoked' BEGIN
  UPDATE certificate_groups SET active = active - 1, revoked = revoked + 1 WHERE id = NEW.group_id;
  UPDATE certificate_tallies SET active = active - 1, revoked = revoked + 1
    WHERE group_id = NEW.group_id AND span IN (3600000, 86400000) AND start = NEW.issued_at - NEW.issued_at % span;
END;

-- What submissions without an API key wrote for a client, by day (UTC): rows that a stranger can make are bounded.
CREATE TABLE client_days (
  client_id TEXT NOT NULL REFERENCES clients (id),
  day INTEGER NOT NULL,
  -- Computed inside the insert; NULL beyond the limit of the day, which undoes the whole batch.
  submissions INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  -- When the owners were told that the limit is near.
  warned_at INTEGER,
  PRIMARY KEY (client_id, day)
) STRICT;
CREATE INDEX client_days_age ON client_days (day);
-- A client's own limits, set by the operator; NULL is the deployment's.
ALTER TABLE clients ADD COLUMN day_submissions INTEGER;
ALTER TABLE clients ADD COLUMN day_bytes INTEGER;
