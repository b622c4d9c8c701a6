-- Withdrawals from single recipients stand on the board of deadlines: open ones by business, the earliest first.
CREATE TABLE entity_duties (
  cert_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  business_id TEXT NOT NULL REFERENCES businesses (id),
  environment TEXT NOT NULL CHECK (environment IN ('live', 'sandbox')),
  cease_by INTEGER NOT NULL,
  PRIMARY KEY (cert_id, number),
  FOREIGN KEY (cert_id, number) REFERENCES entity_withdrawals (cert_id, number)
) STRICT;
CREATE INDEX entity_duties_board ON entity_duties (business_id, environment, cease_by);

INSERT INTO entity_duties (cert_id, number, business_id, environment, cease_by)
SELECT e.cert_id, e.number, c.business_id, c.environment, e.cease_by
FROM entity_withdrawals e JOIN certificates c ON c.id = e.cert_id
WHERE NOT EXISTS (SELECT 1 FROM cease_acknowledgements a WHERE a.cert_id = e.cert_id)
  AND EXISTS (
    SELECT 1 FROM withdrawn_entities w WHERE w.cert_id = e.cert_id AND w.number = e.number
      AND NOT EXISTS (SELECT 1 FROM acknowledged_entities a WHERE a.cert_id = w.cert_id AND a.entity = w.entity));

-- Written with the withdrawal, and gone with the acknowledgement that leaves none of its recipients, or that of the whole certificate.
CREATE TRIGGER entity_duties_opened AFTER INSERT ON entity_withdrawals BEGIN
  INSERT INTO entity_duties (cert_id, number, business_id, environment, cease_by)
  SELECT NEW.cert_id, NEW.number, c.business_id, c.environment, NEW.cease_by FROM certificates c WHERE c.id = NEW.cert_id;
END;
CREATE TRIGGER entity_duties_done AFTER INSERT ON acknowledged_entities BEGIN
  DELETE FROM entity_duties WHERE cert_id = NEW.cert_id AND NOT EXISTS (
    SELECT 1 FROM withdrawn_entities w WHERE w.cert_id = entity_duties.cert_id AND w.number = entity_duties.number
      AND NOT EXISTS (SELECT 1 FROM acknowledged_entities a WHERE a.cert_id = w.cert_id AND a.entity = w.entity));
END;
CREATE TRIGGER entity_duties_ended AFTER INSERT ON cease_acknowledgements BEGIN
  DELETE FROM entity_duties WHERE cert_id = NEW.cert_id;
END;
