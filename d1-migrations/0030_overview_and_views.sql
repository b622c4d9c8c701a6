-- For the portal: what happened to the certificates and duties of a business, by the day, so that no chart walks what it is of; and views.
CREATE TABLE activity_days (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  -- Midnight, UTC, in milliseconds.
  day INTEGER NOT NULL,
  withdrawn INTEGER NOT NULL DEFAULT 0,
  -- Acknowledgements: of whole certificates, of single recipients, of shares.
  on_time INTEGER NOT NULL DEFAULT 0,
  late INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (business_id, environment, day)
) STRICT;

INSERT INTO activity_days (business_id, environment, day, withdrawn, on_time, late)
SELECT business_id, environment, at - at % 86400000, SUM(withdrawn), SUM(acknowledged AND at <= cease_by), SUM(acknowledged AND at > cease_by)
FROM (
  SELECT business_id, environment, withdrawn_at AS at, 1 AS withdrawn, 0 AS acknowledged, cease_by FROM withdrawals
  UNION ALL
  SELECT w.business_id, w.environment, a.acknowledged_at, 0, 1, w.cease_by
  FROM cease_acknowledgements a JOIN withdrawals w ON w.cert_id = a.cert_id
  UNION ALL
  SELECT c.business_id, c.environment, a.acknowledged_at, 0, 1, d.cease_by
  FROM acknowledged_entities e JOIN entity_acknowledgements a ON a.cert_id = e.cert_id AND a.number = e.number
    JOIN withdrawn_entities w ON w.cert_id = e.cert_id AND w.entity = e.entity
    JOIN entity_withdrawals d ON d.cert_id = w.cert_id AND d.number = w.number
    JOIN certificates c ON c.id = e.cert_id
  UNION ALL
  SELECT s.business_id, s.environment, a.acknowledged_at, 0, 1, s.cease_by
  FROM share_acknowledgements a JOIN shares s ON s.id = a.share_id WHERE s.cease_by IS NOT NULL
) GROUP BY 1, 2, 3;

-- The counters follow by themselves, so that no writer can forget them.
CREATE TRIGGER withdrawals_counted AFTER INSERT ON withdrawals BEGIN
  INSERT INTO activity_days (business_id, environment, day, withdrawn)
    VALUES (NEW.business_id, NEW.environment, NEW.withdrawn_at - NEW.withdrawn_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET withdrawn = withdrawn + 1;
END;
CREATE TRIGGER cease_acknowledgements_counted AFTER INSERT ON cease_acknowledgements BEGIN
  INSERT INTO activity_days (business_id, environment, day, on_time, late)
    SELECT business_id, environment, NEW.acknowledged_at - NEW.acknowledged_at % 86400000, NEW.acknowledged_at <= cease_by, NEW.acknowledged_at > cease_by
    FROM withdrawals WHERE cert_id = NEW.cert_id
    ON CONFLICT (business_id, environment, day) DO UPDATE SET on_time = on_time + excluded.on_time, late = late + excluded.late;
END;
CREATE TRIGGER acknowledged_entities_counted AFTER INSERT ON acknowledged_entities BEGIN
  INSERT INTO activity_days (business_id, environment, day, on_time, late)
    SELECT c.business_id, c.environment, a.acknowledged_at - a.acknowledged_at % 86400000, a.acknowledged_at <= d.cease_by, a.acknowledged_at > d.cease_by
    FROM entity_acknowledgements a JOIN withdrawn_entities w ON w.cert_id = NEW.cert_id AND w.entity = NEW.entity
      JOIN entity_withdrawals d ON d.cert_id = w.cert_id AND d.number = w.number
      JOIN certificates c ON c.id = NEW.cert_id
    WHERE a.cert_id = NEW.cert_id AND a.number = NEW.number
    ON CONFLICT (business_id, environment, day) DO UPDATE SET on_time = on_time + excluded.on_time, late = late + excluded.late;
END;
CREATE TRIGGER share_acknowledgements_counted AFTER INSERT ON share_acknowledgements BEGIN
  INSERT INTO activity_days (business_id, environment, day, on_time, late)
    SELECT business_id, environment, NEW.acknowledged_at - NEW.acknowledged_at % 86400000, NEW.acknowledged_at <= cease_by, NEW.acknowledged_at > cease_by
    FROM shares WHERE id = NEW.share_id AND cease_by IS NOT NULL
    ON CONFLICT (business_id, environment, day) DO UPDATE SET on_time = on_time + excluded.on_time, late = late + excluded.late;
END;

-- Filters of the list of certificates that the people of a business keep by name; the storage layer bounds how many.
CREATE TABLE saved_views (
  business_id TEXT NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (business_id, name)
) STRICT;
