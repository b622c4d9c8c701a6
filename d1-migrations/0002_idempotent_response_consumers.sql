-- A saved response can contain a consumer's personal data, so erasing the account must find and delete it.
ALTER TABLE idempotent_responses ADD COLUMN consumer_id TEXT;
CREATE INDEX idempotent_responses_consumer ON idempotent_responses (consumer_id) WHERE consumer_id IS NOT NULL;
