-- compatible with 6
-- Who wants to hear of events. The document holds the secrets.
CREATE TABLE ebb.subscriptions (
    failures bigint NOT NULL,
    suspended_at bigint,
    updated_at bigint NOT NULL,
    is_enabled boolean NOT NULL,
    name text COLLATE "C" PRIMARY KEY,
    document text NOT NULL
);

-- Events that were not relayed yet. Written in the commit that causes them.
CREATE TABLE ebb.outbox (
    instance_id uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    subscription text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (subscription, instance_id, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
