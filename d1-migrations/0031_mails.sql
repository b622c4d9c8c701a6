-- Of the mails that are due, what would be of no use soonest goes first: a code does not stand behind thousands of warnings.
CREATE INDEX mail_outbox_urgent ON mail_outbox (give_up_at, next_at);
