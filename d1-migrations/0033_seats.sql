-- One address may act for several businesses, with a seat in each; a sign-in goes to the one that was used last.
CREATE TABLE members_of_several (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  email_sealed TEXT NOT NULL,
  email_index TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at INTEGER NOT NULL,
  -- When a session of the seat last began.
  used_at INTEGER,
  UNIQUE (business_id, email_index)
) STRICT;
INSERT INTO members_of_several (id, business_id, email_sealed, email_index, role, created_at)
  SELECT id, business_id, email_sealed, email_index, role, created_at FROM members;
DROP TABLE members;
ALTER TABLE members_of_several RENAME TO members;
CREATE INDEX members_address ON members (email_index);

-- However many change each other's roles at once, one owner is left.
CREATE TRIGGER members_owner_demoted BEFORE UPDATE OF role ON members WHEN OLD.role = 'owner' AND NEW.role <> 'owner'
  AND NOT EXISTS (SELECT 1 FROM members WHERE business_id = OLD.business_id AND role = 'owner' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'a business keeps an owner'); END;
CREATE TRIGGER members_owner_removed BEFORE DELETE ON members WHEN OLD.role = 'owner'
  AND NOT EXISTS (SELECT 1 FROM members WHERE business_id = OLD.business_id AND role = 'owner' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'a business keeps an owner'); END;

-- 1 where the address had a seat or an invitation in another home when the session began: those are asked for only then.
ALTER TABLE sessions ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0 CHECK (elsewhere IN (0, 1));

-- By itself, so that no way to begin a session can forget it.
CREATE TRIGGER members_used AFTER INSERT ON sessions WHEN NEW.realm = 'business' BEGIN
  UPDATE members SET used_at = NEW.created_at WHERE id = NEW.user_id;
END;
