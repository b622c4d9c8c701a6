-- Test mode: events of sandbox records on their way into a sequence of their own, and the clock that each business's sandbox lives by.
-- As event_outbox. A table of its own, so that no code that knows live events only can place one of these among them.
CREATE TABLE sandbox_event_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  type TEXT NOT NULL,
  share_id TEXT,
  cert_id TEXT,
  data_sealed TEXT,
  -- By the clock of the sandbox.
  created_at INTEGER NOT NULL,
  CHECK (share_id IS NULL OR cert_id IS NULL)
) STRICT;
CREATE INDEX sandbox_event_outbox_business ON sandbox_event_outbox (business_id, ord);

-- How far the sandbox of a business is ahead of the time; a business without a row is not.
CREATE TABLE sandbox_clocks (
  business_id TEXT PRIMARY KEY REFERENCES businesses (id),
  offset_ms INTEGER NOT NULL CHECK (offset_ms >= 0),
  moved_at INTEGER NOT NULL
) STRICT;

-- What is due by the clock of one business.
CREATE INDEX shares_sandbox_due ON shares (business_id, next_due_at) WHERE environment = 'sandbox' AND next_due_at IS NOT NULL;
