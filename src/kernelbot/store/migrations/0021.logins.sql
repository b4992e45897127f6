-- depends: 0020.accounts
-- Logins that have begun and not ended. Secrets are kept as hashes where the text isn't needed.

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

CREATE TABLE device_logins (
    device_hash bytea PRIMARY KEY CHECK (octet_length(device_hash) = 32),
    user_code text NOT NULL UNIQUE,
    user_id bigint REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX device_logins_expiry ON device_logins (expires_at);
CREATE INDEX device_logins_user ON device_logins (user_id);
