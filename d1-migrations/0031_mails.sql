-- Of the mails that are due, what would be of no use soonest goes first: a code does not stand behind thousands of warnings.
CREATE INDEX mail_outbox_urgent ON mail_outbox (give_up_at, ord, next_at);

-- A connection of an assistant ends after 90 days; its person hears of it a week before, once, in the language they allowed it in.
ALTER TABLE agent_tokens ADD COLUMN language TEXT CHECK (language IN ('en', 'es', 'fr-CA'));
ALTER TABLE agent_tokens ADD COLUMN end_told_at INTEGER;
CREATE INDEX agent_tokens_ending ON agent_tokens (expires_at) WHERE source = 'oauth' AND revoked_at IS NULL AND end_told_at IS NULL;
