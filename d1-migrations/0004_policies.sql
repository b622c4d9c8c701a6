-- Privacy policies and terms as they stood: one row a distinct text of a domain, the text itself in KV under its hash.
CREATE TABLE policy_snapshots (
  id TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('privacy', 'terms')),
  source_url TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  captured_at INTEGER NOT NULL,
  UNIQUE (domain, kind, content_hash)
) STRICT;
CREATE TRIGGER policy_snapshots_sealed BEFORE UPDATE ON policy_snapshots BEGIN SELECT RAISE(ABORT, 'a snapshot is immutable'); END;

-- One look at a domain's policies; certificates issued within its validity share it.
CREATE TABLE policy_captures (
  id TEXT PRIMARY KEY,
  domain TEXT NOT NULL,
  captured_at INTEGER NOT NULL,
  privacy_id TEXT REFERENCES policy_snapshots (id),
  terms_id TEXT REFERENCES policy_snapshots (id)
) STRICT;
CREATE INDEX policy_captures_domain ON policy_captures (domain, captured_at);

-- A certificate is linked to one look, once: two workers that link the same certificates cannot both commit, and the
-- policies of a certificate never change afterwards.
CREATE TRIGGER certificates_policies_linked BEFORE UPDATE OF policy_capture_id ON certificates WHEN OLD.policy_capture_id IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'policies are linked once'); END;
