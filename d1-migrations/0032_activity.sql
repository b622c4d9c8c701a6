-- More of what the portal shows by the day: certificates issued, so that no chart walks their groups, pages opened, and shares.
ALTER TABLE activity_days ADD COLUMN issued INTEGER NOT NULL DEFAULT 0;
-- By people: a look again within ten seconds is none, nor one that the trail does not keep.
ALTER TABLE activity_days ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;
ALTER TABLE activity_days ADD COLUMN granted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE activity_days ADD COLUMN stopped INTEGER NOT NULL DEFAULT 0;

INSERT INTO activity_days (business_id, environment, day, issued, opened, granted, stopped)
SELECT business_id, environment, at - at % 86400000, SUM(issued), SUM(opened), SUM(granted), SUM(stopped)
FROM (
  SELECT p.business_id, p.environment, t.start AS at, t.active + t.revoked AS issued, 0 AS opened, 0 AS granted, 0 AS stopped
  FROM certificate_tallies t JOIN certificate_groups g ON g.id = t.group_id JOIN purposes p ON p.id = g.purpose_id
  WHERE t.span = 86400000
  UNION ALL
  SELECT c.business_id, c.environment, v.at, 0, 1, 0, 0 FROM certificate_views v JOIN certificates c ON c.id = v.cert_id WHERE v.bot = 0
  UNION ALL
  SELECT business_id, environment, created_at, 0, 0, 1, 0 FROM shares
  UNION ALL
  SELECT business_id, environment, revoked_at, 0, 0, 0, 1 FROM shares WHERE revoked_at IS NOT NULL
) WHERE true GROUP BY 1, 2, 3
ON CONFLICT (business_id, environment, day) DO UPDATE SET
  issued = excluded.issued, opened = excluded.opened, granted = excluded.granted, stopped = excluded.stopped;

CREATE TRIGGER certificates_dated AFTER INSERT ON certificates BEGIN
  INSERT INTO activity_days (business_id, environment, day, issued)
    VALUES (NEW.business_id, NEW.environment, NEW.issued_at - NEW.issued_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET issued = issued + 1;
END;
CREATE TRIGGER certificate_views_dated AFTER INSERT ON certificate_views WHEN NEW.bot = 0 BEGIN
  INSERT INTO activity_days (business_id, environment, day, opened)
    SELECT business_id, environment, NEW.at - NEW.at % 86400000, 1 FROM certificates WHERE id = NEW.cert_id
    ON CONFLICT (business_id, environment, day) DO UPDATE SET opened = opened + 1;
END;
CREATE TRIGGER shares_dated AFTER INSERT ON shares BEGIN
  INSERT INTO activity_days (business_id, environment, day, granted)
    VALUES (NEW.business_id, NEW.environment, NEW.created_at - NEW.created_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET granted = granted + 1;
END;
CREATE TRIGGER shares_stop_dated AFTER UPDATE OF revoked_at ON shares WHEN OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL BEGIN
  INSERT INTO activity_days (business_id, environment, day, stopped)
    VALUES (NEW.business_id, NEW.environment, NEW.revoked_at - NEW.revoked_at % 86400000, 1)
    ON CONFLICT (business_id, environment, day) DO UPDATE SET stopped = stopped + 1;
END;
