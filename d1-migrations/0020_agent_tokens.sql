-- What an assistant connects with: a token of one person, for one realm, that ends by itself after 90 days.
CREATE TABLE agent_tokens (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  realm TEXT NOT NULL CHECK (realm IN ('consumer', 'business')),
  -- The consumer or the member whose token it is. Not a reference: a person may go, and the token is then worth nothing.
  principal_id TEXT NOT NULL,
  -- NULL for a consumer's.
  business_id TEXT REFERENCES businesses (id),
  name_sealed TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Whole days since 1970; NULL until a tool was called with it.
  last_used_day INTEGER,
  -- When its person was last mailed that it changed something; NULL before.
  told_at INTEGER,
  revoked_at INTEGER,
  CHECK ((realm = 'business') = (business_id IS NOT NULL))
) STRICT;
CREATE INDEX agent_tokens_principal ON agent_tokens (principal_id);
CREATE INDEX agent_tokens_business ON agent_tokens (business_id) WHERE business_id IS NOT NULL;
CREATE INDEX agent_tokens_expiry ON agent_tokens (expires_at);
