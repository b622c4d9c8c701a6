-- Policies found from an origin's own front page are everybody's on that origin; those found only from the submitted page belong to
-- certificates of that very page (page NULL: everybody's). Captures of before name no origin, so nobody shares them any more.
ALTER TABLE policy_captures ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE policy_captures ADD COLUMN page TEXT;
DROP INDEX policy_captures_domain;
CREATE INDEX policy_captures_origin ON policy_captures (origin, captured_at);

-- What waits is taken business by business. A topic is an origin and a page of one business: its first row has the topic's time,
-- the rows behind it the largest there is.
ALTER TABLE outbox ADD COLUMN business_id TEXT NOT NULL DEFAULT '';
DROP INDEX outbox_topic;
CREATE INDEX outbox_topic ON outbox (kind, business_id, topic);
UPDATE outbox SET topic = 'https://' || topic || ' ' || payload,
  business_id = (SELECT business_id FROM certificates WHERE certificates.id = outbox.entity_id) WHERE kind = 'policy';
UPDATE outbox SET next_at = CASE WHEN EXISTS
  (SELECT 1 FROM outbox AS earlier WHERE earlier.kind = 'policy' AND earlier.business_id = outbox.business_id
    AND earlier.topic = outbox.topic AND earlier.ord < outbox.ord)
  THEN 9007199254740991 ELSE created_at END WHERE kind = 'policy';

-- When a business had its last turn, and until when that lasts: one capture at a time for each business.
CREATE TABLE policy_turns (
  business_id TEXT PRIMARY KEY,
  taken_at INTEGER NOT NULL,
  until INTEGER NOT NULL
) STRICT;
