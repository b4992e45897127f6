-- Accounts, how people prove who they are, and logins that have begun and not yet ended.

CREATE TYPE user_role AS ENUM ('competitor', 'creator', 'admin');

CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    role user_role NOT NULL DEFAULT 'competitor',
    created_at timestamptz NOT NULL DEFAULT now(),
    banned_at timestamptz
);
CREATE UNIQUE INDEX users_name ON users (lower(name));

CREATE TABLE identities (
    provider text NOT NULL,
    subject text NOT NULL,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX tokens_user ON tokens (user_id);

-- Secrets are stored as hashes if their text isn't needed.
CREATE TABLE login_attempts (
    state_hash bytea PRIMARY KEY CHECK (octet_length(state_hash) = 32),
    browser_hash bytea NOT NULL CHECK (octet_length(browser_hash) = 32),
    provider text NOT NULL,
    code_verifier text NOT NULL,
    redirect_uri text NOT NULL,
    next_path text NOT NULL,
    invite text,
    linking_user_id bigint REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX login_attempts_expiry ON login_attempts (expires_at);
CREATE INDEX login_attempts_user ON login_attempts (linking_user_id);

-- Terminals that poll too often are told to slow down (RFC 8628, 3.5).
CREATE TABLE device_logins (
    device_hash bytea PRIMARY KEY CHECK (octet_length(device_hash) = 32),
    user_code text NOT NULL UNIQUE,
    user_id bigint REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    polled_at timestamptz,
    interval_s integer NOT NULL DEFAULT 2 CHECK (interval_s > 0)
);
CREATE INDEX device_logins_expiry ON device_logins (expires_at);
CREATE INDEX device_logins_user ON device_logins (user_id);
