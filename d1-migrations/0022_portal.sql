-- What the people of a business manage in its portal: its profile, its domains and their proofs, its keys, and who else is a member.
ALTER TABLE businesses ADD COLUMN contact_phone TEXT;
ALTER TABLE businesses ADD COLUMN logo_url TEXT;

-- What is to be published to prove a domain. NULL for domains that were proved otherwise: those are never checked again.
ALTER TABLE domains ADD COLUMN token TEXT;
-- Until when a pending domain may be proved.
ALTER TABLE domains ADD COLUMN expires_at INTEGER;
-- The last check of a verified domain that had an answer, and when the next one is due.
ALTER TABLE domains ADD COLUMN checked_at INTEGER;
ALTER TABLE domains ADD COLUMN next_check_at INTEGER;
-- Checks in a row that did not find the proof, and when the domain stops being verified if it stays so.
ALTER TABLE domains ADD COLUMN misses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE domains ADD COLUMN lapses_at INTEGER;
CREATE INDEX domains_checks ON domains (next_check_at) WHERE status = 'verified' AND next_check_at IS NOT NULL;
CREATE INDEX domains_expiry ON domains (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;

-- The day of the last request, so that a key in use is written once a day.
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;

-- Accounts that were asked for. They come to exist when their address is proved; nobody's address can be signed up by somebody else.
CREATE TABLE signups (
  id TEXT PRIMARY KEY,
  email_index TEXT NOT NULL,
  email_sealed TEXT NOT NULL,
  request_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX signups_address ON signups (email_index, created_at);
CREATE INDEX signups_expiry ON signups (expires_at);

-- Who was asked to join a business. Not a member until the address is proved: whoever invites an address does not occupy it.
CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  email_index TEXT NOT NULL,
  email_sealed TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'member')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  UNIQUE (business_id, email_index)
) STRICT;
CREATE INDEX invitations_address ON invitations (email_index, created_at);
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- What a code of signing in opens for an address that is nobody's yet: a sign-up or an invitation.
ALTER TABLE mailed_codes ADD COLUMN opens TEXT;

-- However many change each other's roles at once, one owner is left.
CREATE TRIGGER members_owner_demoted BEFORE UPDATE OF role ON members WHEN OLD.role = 'owner' AND NEW.role <> 'owner'
  AND NOT EXISTS (SELECT 1 FROM members WHERE business_id = OLD.business_id AND role = 'owner' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'a business keeps an owner'); END;
CREATE TRIGGER members_owner_removed BEFORE DELETE ON members WHEN OLD.role = 'owner'
  AND NOT EXISTS (SELECT 1 FROM members WHERE business_id = OLD.business_id AND role = 'owner' AND id <> OLD.id)
BEGIN SELECT RAISE(ABORT, 'a business keeps an owner'); END;
