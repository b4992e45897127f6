-- depends: 0030.organising
-- The key of exported pseudonyms, where the configuration names none, and when the last daily
-- export began.
CREATE TABLE exports (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    daily_at timestamptz
);
