-- When a business was last told of a change of what a share holds: its person sees until when it has kept up.
ALTER TABLE shares ADD COLUMN update_sent_at INTEGER;
