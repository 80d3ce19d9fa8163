-- compatible with 5
-- Who wants to hear of events. The document holds the secrets.
CREATE TABLE subscriptions (
    name TEXT PRIMARY KEY NOT NULL,
    document TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    suspended_at INTEGER,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events that were not relayed yet. Written in the commit that causes them.
CREATE TABLE outbox (
    subscription TEXT NOT NULL,
    instance_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (subscription, instance_id, seq)
) STRICT, WITHOUT ROWID;
