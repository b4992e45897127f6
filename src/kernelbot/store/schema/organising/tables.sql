-- What organisers configure, and the log of what they did.

-- The one row that says whether submissions are accepted.
CREATE TABLE platform (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    accepts_jobs boolean NOT NULL DEFAULT true,
    reason text NOT NULL DEFAULT '',
    CONSTRAINT only_a_pause_has_a_reason CHECK (NOT accepts_jobs OR reason = '')
);
INSERT INTO platform DEFAULT VALUES;

-- Who did what, and why.
CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor_id bigint REFERENCES users ON DELETE SET NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_subject ON audit_log (subject, id DESC);
CREATE INDEX audit_log_actor ON audit_log (actor_id);

-- The key of exported pseudonyms, if the configuration names none, and when the last daily export
-- began.
CREATE TABLE exports (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    daily_at timestamptz
);
