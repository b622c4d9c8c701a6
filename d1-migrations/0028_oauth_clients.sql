-- What the documents of connected programs said, so that somebody can connect while a program's own host cannot be reached.
CREATE TABLE oauth_clients (
  url TEXT PRIMARY KEY,
  -- Of the document, only what is used: name and redirects, as JSON.
  document TEXT NOT NULL,
  -- When it was read from there; it serves for seven days.
  fetched_at INTEGER NOT NULL
) STRICT;
CREATE INDEX oauth_clients_age ON oauth_clients (fetched_at);
