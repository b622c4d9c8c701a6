-- Who takes part: businesses, the domains they have verified, their public clients and their API keys.
CREATE TABLE businesses (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  legal_name TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'past_due', 'suspended', 'closed')),
  plan TEXT NOT NULL CHECK (plan IN ('free', 'business', 'enterprise')),
  country TEXT NOT NULL DEFAULT 'US',
  mailing_address TEXT,
  contact_email TEXT,
  emit_certificate_issued INTEGER NOT NULL DEFAULT 0,
  retention_years INTEGER NOT NULL DEFAULT 5 CHECK (retention_years BETWEEN 1 AND 10),
  audit_chain TEXT NOT NULL UNIQUE,
  audit_shard INTEGER NOT NULL DEFAULT 0,
  -- Rises with every change of the account, its domains or its clients: who decided on an older reading finds out at commit.
  revision INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  domain TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'verified', 'lapsed')),
  method TEXT CHECK (method IN ('dns', 'meta', 'well_known')),
  verified_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (business_id, domain),
  CHECK (status <> 'verified' OR method IS NOT NULL)
) STRICT;

CREATE TABLE clients (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX clients_business ON clients (business_id);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  key_hash TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  last4 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_business ON api_keys (business_id);

-- The revision follows every change by itself, so that no writer can forget it.
CREATE TRIGGER businesses_revised AFTER UPDATE ON businesses WHEN NEW.revision = OLD.revision BEGIN
  UPDATE businesses SET revision = revision + 1 WHERE id = NEW.id;
END;
CREATE TRIGGER domains_added AFTER INSERT ON domains BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id; END;
CREATE TRIGGER domains_changed AFTER UPDATE ON domains BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id; END;
CREATE TRIGGER domains_removed AFTER DELETE ON domains BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = OLD.business_id; END;
CREATE TRIGGER clients_changed AFTER UPDATE ON clients BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = NEW.business_id; END;
CREATE TRIGGER clients_removed AFTER DELETE ON clients BEGIN UPDATE businesses SET revision = revision + 1 WHERE id = OLD.business_id; END;
