-- Tokens that end with what they were made with, and browsers' sessions as a kind of their own.

-- `setting`: what ADMIN_TOKEN's sessions and tokens hang on; nobody can send it.
CREATE TYPE token_kind AS ENUM ('token', 'session', 'setting');
ALTER TABLE tokens ADD COLUMN kind token_kind NOT NULL DEFAULT 'token';
ALTER TABLE tokens ADD COLUMN parent_id bigint REFERENCES tokens ON DELETE CASCADE;
CREATE INDEX tokens_parent ON tokens (parent_id);
-- Browsers stay logged in. Nobody knows any more which token opened one: it ends by its time.
UPDATE tokens SET kind = 'session' WHERE name = 'web login'
    AND expires_at BETWEEN created_at + interval '29 days 23 hours'
    AND created_at + interval '30 days 1 hour';
ALTER TABLE device_logins ADD COLUMN parent_id bigint REFERENCES tokens ON DELETE CASCADE;
CREATE INDEX device_logins_parent ON device_logins (parent_id);
