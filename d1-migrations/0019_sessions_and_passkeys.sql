-- A person's ways of signing in: sessions have a name and a device, so that one can be ended from another; and passkeys.
ALTER TABLE sessions ADD COLUMN id TEXT NOT NULL DEFAULT '';
-- Families of operating system and browser; NULL for a session from before.
ALTER TABLE sessions ADD COLUMN agent_sealed TEXT;
-- The last day (UTC, days since 1970) it was used on.
ALTER TABLE sessions ADD COLUMN seen_day INTEGER;
-- When the person last proved who they are; NULL for a session from before, which began with the proof.
ALTER TABLE sessions ADD COLUMN proved_at INTEGER;
-- Sessions from before, and those that an older version begins while this one is rolled out, get a name too: prefix, home, 96 random bits.
UPDATE sessions SET id = 'ssn_' || substr(user_id, 5, 2) || lower(hex(randomblob(12)));
CREATE TRIGGER sessions_named AFTER INSERT ON sessions WHEN NEW.id = '' BEGIN
  UPDATE sessions SET id = 'ssn_' || substr(user_id, 5, 2) || lower(hex(randomblob(12))) WHERE token_hash = NEW.token_hash;
END;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  consumer_id TEXT NOT NULL REFERENCES consumers (id),
  -- As the authenticator calls it.
  credential_id TEXT NOT NULL UNIQUE,
  -- What the authenticator calls the account: the home and 30 random bytes, the same for all passkeys of an account.
  user_handle TEXT NOT NULL,
  -- COSE, base64url.
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  transports TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  name_sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_day INTEGER
) STRICT;
CREATE INDEX passkeys_consumer ON passkeys (consumer_id);

CREATE TABLE webauthn_challenges (
  challenge_hash TEXT PRIMARY KEY,
  purpose TEXT NOT NULL CHECK (purpose IN ('add', 'sign_in')),
  -- The session that adds a passkey, and the user handle it is offered; NULL for signing in.
  session_hash TEXT,
  user_handle TEXT,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX webauthn_challenges_expiry ON webauthn_challenges (expires_at);
