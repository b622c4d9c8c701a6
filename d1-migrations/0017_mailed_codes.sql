-- Codes that are mailed have one table, whatever they prove an address for, and one set of limits in core/access/mailed-code.ts. A code
-- for withdrawing belongs to business and environment instead of one certificate.
CREATE TABLE mailed_codes (
  id TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  -- What a code opens within its purpose: business and environment, or a realm.
  topic TEXT NOT NULL,
  -- Of an address that is mailed; of one that is on none of the certificates it was asked for, a value that is nobody's.
  address_index TEXT NOT NULL,
  -- The certificate it was asked for, with whose person it ends.
  cert_id TEXT REFERENCES certificates (id),
  code_hash TEXT NOT NULL,
  -- The browser that asked, by the hash of its cookie; NULL where none is told from another.
  context_hash TEXT,
  own_tries INTEGER NOT NULL DEFAULT 0,
  other_tries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  -- Computed inside the insert; equal to created_at where a limit was reached.
  expires_at INTEGER NOT NULL,
  -- The session it was spent on.
  session_hash TEXT
) STRICT;
CREATE INDEX mailed_codes_address ON mailed_codes (purpose, address_index, topic, created_at);
CREATE INDEX mailed_codes_age ON mailed_codes (created_at);
CREATE INDEX mailed_codes_cert ON mailed_codes (cert_id) WHERE cert_id IS NOT NULL;

-- Wrong answers in a row.
CREATE TABLE mailed_code_failures (
  purpose TEXT NOT NULL,
  topic TEXT NOT NULL,
  address_index TEXT NOT NULL,
  -- The certificate of the last of them, likewise.
  cert_id TEXT REFERENCES certificates (id),
  failures INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (purpose, topic, address_index)
) STRICT;
CREATE INDEX mailed_code_failures_age ON mailed_code_failures (updated_at);
CREATE INDEX mailed_code_failures_cert ON mailed_code_failures (cert_id) WHERE cert_id IS NOT NULL;

-- Codes and links that are on their way go on working. Those for addresses that are on no certificate reached nobody.
INSERT INTO mailed_codes (id, purpose, topic, address_index, cert_id, code_hash, context_hash, own_tries, other_tries, created_at, expires_at)
  SELECT k.id, 'withdrawal', c.business_id || ' ' || c.environment, k.address_index, k.cert_id, k.code_hash, k.context_hash, k.own_tries, k.other_tries,
    k.created_at, k.expires_at
  FROM withdrawal_codes k JOIN certificates c ON c.id = k.cert_id AND c.email_index = k.address_index;
INSERT INTO mailed_codes (id, purpose, topic, address_index, code_hash, own_tries, created_at, expires_at, session_hash)
  SELECT id, 'login', realm, email_index, code_hash, tries, created_at, expires_at, session_hash FROM login_codes;
INSERT INTO mailed_code_failures (purpose, topic, address_index, cert_id, failures, updated_at)
  SELECT 'withdrawal', c.business_id || ' ' || c.environment, f.address_index, max(f.cert_id), sum(f.failures), max(f.updated_at)
  FROM withdrawal_failures f JOIN certificates c ON c.id = f.cert_id AND c.email_index = f.address_index
  GROUP BY c.business_id, c.environment, f.address_index;
DROP TABLE withdrawal_codes;
DROP TABLE withdrawal_failures;
DROP TABLE login_codes;
