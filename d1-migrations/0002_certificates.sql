-- Certificates with the text they share: a purpose and a disclosure are few and repeat, so each is stored once, and
-- counting and searching by purpose never walks the certificates.
CREATE TABLE purposes (
  id INTEGER PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  purpose TEXT NOT NULL,
  purpose_folded TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 0 CHECK (active >= 0),
  revoked INTEGER NOT NULL DEFAULT 0 CHECK (revoked >= 0),
  UNIQUE (business_id, environment, purpose)
) STRICT;

CREATE TABLE disclosures (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE certificates (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  -- Computed inside the insert from the account as it stands at that moment; NULL aborts the whole batch.
  business_id TEXT NOT NULL REFERENCES businesses (id),
  business_name TEXT NOT NULL,
  client_id TEXT NOT NULL REFERENCES clients (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'revoked')),
  purpose_id INTEGER NOT NULL REFERENCES purposes (id),
  disclosure_hash TEXT NOT NULL REFERENCES disclosures (hash),
  entities TEXT NOT NULL,
  entities_accepted TEXT,
  entities_rejected TEXT,
  origin_domain TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  subject_hash TEXT NOT NULL,
  subject_masked TEXT NOT NULL,
  subject_sealed TEXT,
  subject_erased_at INTEGER,
  email_index TEXT,
  phone_index TEXT,
  evidence_sealed TEXT NOT NULL,
  evidence_hash TEXT NOT NULL,
  gpc INTEGER NOT NULL DEFAULT 0 CHECK (gpc IN (0, 1)),
  captured_via TEXT NOT NULL CHECK (captured_via IN ('browser', 'server')),
  signature TEXT NOT NULL,
  signature_kid TEXT NOT NULL,
  manage_token_hash TEXT NOT NULL,
  policy_capture_id TEXT,
  view_count INTEGER NOT NULL DEFAULT 0,
  view_rows INTEGER NOT NULL DEFAULT 0,
  retention_until INTEGER NOT NULL,
  CHECK ((entities_accepted IS NULL) = (entities_rejected IS NULL)),
  CHECK ((subject_sealed IS NULL) = (subject_erased_at IS NOT NULL))
) STRICT;
CREATE INDEX certificates_listed ON certificates (business_id, environment, issued_at);
CREATE INDEX certificates_revoked ON certificates (business_id, environment, issued_at) WHERE status = 'revoked';
CREATE INDEX certificates_purpose ON certificates (purpose_id, issued_at);
CREATE INDEX certificates_email ON certificates (email_index, business_id, environment, issued_at) WHERE email_index IS NOT NULL;
CREATE INDEX certificates_phone ON certificates (phone_index, business_id, environment, issued_at) WHERE phone_index IS NOT NULL;

-- What was sealed stays as it was: no later statement can change what a certificate says.
CREATE TRIGGER certificates_sealed BEFORE UPDATE OF
  id, business_id, business_name, client_id, environment, purpose_id, disclosure_hash, entities, entities_accepted,
  entities_rejected, origin_domain, issued_at, fingerprint, subject_hash, evidence_hash, signature, signature_kid
ON certificates BEGIN SELECT RAISE(ABORT, 'a certificate is immutable'); END;
CREATE TRIGGER certificates_kept BEFORE DELETE ON certificates BEGIN SELECT RAISE(ABORT, 'a certificate is never deleted'); END;
CREATE TRIGGER disclosures_sealed BEFORE UPDATE ON disclosures BEGIN SELECT RAISE(ABORT, 'a disclosure is immutable'); END;

-- Every open of the public page; who opened it is sealed.
CREATE TABLE certificate_views (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  cert_id TEXT NOT NULL REFERENCES certificates (id),
  at INTEGER NOT NULL,
  viewer_sealed TEXT NOT NULL,
  viewer_index TEXT NOT NULL,
  bot INTEGER NOT NULL CHECK (bot IN (0, 1))
) STRICT;
CREATE INDEX certificate_views_cert ON certificate_views (cert_id, ord);
CREATE INDEX certificate_views_viewer ON certificate_views (cert_id, viewer_index, at);

-- Answers kept 24 h, so that a request sent twice is done once. The answer holds a one-time token, so it is sealed.
CREATE TABLE idempotency (
  key_hash TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  response_sealed TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);
