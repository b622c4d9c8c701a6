-- Assistants that a person connects by signing in: which program a token was made for, and the codes it is made from.
ALTER TABLE agent_tokens ADD COLUMN source TEXT NOT NULL DEFAULT 'minted' CHECK (source IN ('minted', 'oauth'));
-- The program's id; NULL for a token that its person made and pasted.
ALTER TABLE agent_tokens ADD COLUMN client_id TEXT;
-- Whose server vouches for the program; NULL for one that only says so itself.
ALTER TABLE agent_tokens ADD COLUMN client_host TEXT;
-- Where the answer was sent: a host, the person's own machine, or an app.
ALTER TABLE agent_tokens ADD COLUMN redirect_host TEXT;
-- What a person allowed, until the program has turned it into a token. Spent by one UPDATE that names everything that must hold.
CREATE TABLE oauth_codes (
  code_hash TEXT PRIMARY KEY,
  -- Of the page that asked: allowing twice makes one code.
  nonce_hash TEXT NOT NULL UNIQUE,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business')),
  principal_id TEXT NOT NULL,
  business_id TEXT REFERENCES businesses (id),
  client_id TEXT NOT NULL,
  client_name TEXT,
  client_host TEXT,
  redirect_uri TEXT NOT NULL,
  challenge TEXT NOT NULL,
  -- Whether earlier tokens of the same program end when this one is made.
  replaces INTEGER NOT NULL CHECK (replaces IN (0, 1)),
  language TEXT NOT NULL CHECK (language IN ('en', 'es', 'fr-CA')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER,
  -- Of the token it became.
  token_id TEXT,
  CHECK ((realm = 'business') = (business_id IS NOT NULL)),
  CHECK ((used_at IS NULL) = (token_id IS NULL))
) STRICT;
CREATE INDEX oauth_codes_age ON oauth_codes (expires_at);
