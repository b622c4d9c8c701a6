-- Events on their way into the sequence of their business: written with the change they tell of, deleted once placed.
-- AUTOINCREMENT, so that the order of the rows is the order of the commits and never depends on what was deleted.
CREATE TABLE event_outbox (
  ord INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL UNIQUE,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  type TEXT NOT NULL,
  share_id TEXT,
  cert_id TEXT,
  data_sealed TEXT,
  created_at INTEGER NOT NULL,
  CHECK (share_id IS NULL OR cert_id IS NULL)
) STRICT;
CREATE INDEX event_outbox_business ON event_outbox (business_id, ord);
