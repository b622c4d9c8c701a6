-- Work that is under way under an idempotency key: claimed before it begins, so that of two equal requests one does it.

CREATE TABLE idempotency_claims (
  key_hash TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  -- The request that does the work; only it may end the claim.
  holder TEXT NOT NULL,
  -- A holder that is not done by then has died, and the same request may take over.
  leased_until INTEGER NOT NULL,
  -- What the work drew at random and must not draw again when another request goes on with it.
  draft_sealed TEXT,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_claims_expiry ON idempotency_claims (expires_at);
