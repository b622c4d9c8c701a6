-- Billing: what the payment provider says of its customers, which of its events were taken in, and the plan of consumers.
ALTER TABLE consumers ADD COLUMN plan TEXT NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'white_glove'));

-- One row a customer of the provider. What is said of one before its checkout is known waits here without an account.
CREATE TABLE billing_customers (
  customer_id TEXT PRIMARY KEY,
  account_id TEXT UNIQUE,
  linked_at INTEGER,
  subscription_id TEXT,
  plan TEXT CHECK (plan IN ('free', 'business', 'enterprise', 'white_glove')),
  plan_at INTEGER NOT NULL DEFAULT 0,
  paid_at INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER NOT NULL DEFAULT 0,
  past_due_since INTEGER,
  suspended_at INTEGER,
  ended_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  CHECK ((account_id IS NULL) = (linked_at IS NULL))
) STRICT;
CREATE INDEX billing_customers_unpaid ON billing_customers (past_due_since) WHERE past_due_since IS NOT NULL AND suspended_at IS NULL;
CREATE INDEX billing_customers_unlinked ON billing_customers (updated_at) WHERE account_id IS NULL;

-- Events that were taken in: each once, however often it is sent.
CREATE TABLE billing_events (
  id TEXT PRIMARY KEY,
  customer_id TEXT NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX billing_events_age ON billing_events (received_at);
